"""torch.nn.functional.scaled_dot_product_attention, held to its math kernel: the composite of matmul and softmax."""

from typing import Any

from torch.nn.attention import SDPBackend, sdpa_kernel

from attnspec.impls import torch_sdpa
from attnspec.impls.kernels.torch import sdpa_kernels, turn

ARRAYS = "torch"
KERNEL = "math"
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {"mask+bias", "mask+is_causal", "bias+is_causal", "bias_dtype"}  # one argument for all three, of one dtype
KNOWN_ISSUES = {
    "rejection.no_heads": "a key without heads gives zeros for any number of query heads; unreported",
}
DOCUMENTATION = {"rejection.no_heads": torch_sdpa.DOCUMENTATION["rejection.no_heads"]}
CONVENTIONS = {"intermediate_dtype": "float32", "masked_nonfinite": "propagates"}


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
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    Without B, or B and H, everything is without it. mask is bool (True attends) and bias has the inputs' dtype; both
    broadcast to (B, Hq, L, S). ValueError for mask and bias together and for a mask that is not bool, which PyTorch
    would add; what else is malformed is PyTorch's to find.
    Formula: Vaswani et al. 2017, equation 1.
    """
    with turn(), sdpa_kernel(SDPBackend.MATH):
        return torch_sdpa.attention(query, key, value, mask=mask, bias=bias, is_causal=is_causal, scale=scale)


kernels = sdpa_kernels
