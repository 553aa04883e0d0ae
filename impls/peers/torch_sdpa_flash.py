"""torch.nn.functional.scaled_dot_product_attention, held to its flash kernel: what that does not take raises."""

from typing import Any

from torch.nn.attention import SDPBackend, sdpa_kernel

from attnspec.impls import torch_sdpa
from attnspec.impls.kernels.torch import sdpa_kernels, turn

ARRAYS = "torch"
KERNEL = "flash"
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {
    "mask+bias",  # there is one argument for both
    "bias_dtype",
    "value_dim",
    "rank2",
    "rank3",
    "views",  # the last axis must be dense
    "double_gradient",
    "forward_gradient",
}
KNOWN_ISSUES = {
    **torch_sdpa.KNOWN_ISSUES,
    "derivative.options": "the kernel has no gradient of a bias: where one is asked for, PyTorch finds no kernel",
}
DOCUMENTATION = torch_sdpa.DOCUMENTATION
CONVENTIONS = torch_sdpa.CONVENTIONS


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    bias: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, D): (B, Hq, L, D).

    mask is bool (True attends) and bias has the inputs' dtype; both broadcast to (B, Hq, L, S). ValueError for mask
    and bias together and for a mask that is not bool, RuntimeError for what the kernel does not take; what else is
    malformed is PyTorch's to find.
    Algorithm: Dao, FlashAttention-2, 2023, algorithm 1.
    """
    with turn(), sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return torch_sdpa.attention(
            query, key, value, mask=_four_axes(mask), bias=_four_axes(bias), is_causal=is_causal, scale=scale
        )


def _four_axes(array: Any) -> Any:
    """The kernel takes two axes or four."""
    return None if array is None else array[(None,) * (4 - array.ndim)]


kernels = sdpa_kernels
