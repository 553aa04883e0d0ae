"""A fault of the library behind PyTorch's products in bfloat16, on processors with AMX tiles alone."""

import torch

LEAK = (
    "with bfloat16 on AMX tiles NaN leaks into the rows beside it where the summed axis is no multiple of 32: "
    "https://github.com/uxlfoundation/oneDNN/issues/5717"
)
LEAKS: bool = torch.cpu._is_amx_tile_supported()
