"""keras.layers.GroupQueryAttention on PyTorch, its projections being the identity.

It is called with its weights: products and a softmax of its own.
"""

from collections.abc import Callable
from typing import Any

from attnspec.impls.kernels.torch import sdpa_kernels
from attnspec.impls.peers.shared import keras as shared
from attnspec.impls.peers.shared import keras_documentation as documented
from attnspec.impls.peers.shared.reasons import JOINED, MASK_CAST, ONE_KEY_REPEATED
from attnspec.impls.peers.shared.torch_amx import LEAK, LEAKS

keras = shared.keras_on("torch")

ARRAYS = "torch"
KERNEL = "einsum"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("keras",)
LACKS = {"value_dim", "rank2", "rank3"}
KNOWN_ISSUES = {
    "rejection.mask_dtype": MASK_CAST,
    "masking.nan_value_shows": JOINED,
    **({"masking.nan_query_shows": LEAK} if LEAKS else {}),
    "rejection.lengths": ONE_KEY_REPEATED,
    "purity.compiled": "keras.ops.softmax warns of rows of one key, which torch.compile does not trace; unreported",
}
DOCUMENTATION = documented.GROUPED
CONVENTIONS = {
    "layout": "BLHD",
    "empty_row": "zero",
    "intermediate_dtype": "at-most-float32",
    "masked_nonfinite": "propagates",
    "value_range": "sum",
}


def attention(
    query: Any, key: Any, value: Any, *, mask: Any = None, is_causal: bool = False, return_weights: bool = False
) -> Any:
    """Attention of query (B, L, Hq, D) over key and value (B, S, Hkv, D): (B, L, Hq, D).

    mask is bool (True attends) and broadcasts to (B, Hq, L, S). return_weights adds (B, Hq, L, S).
    ValueError or IndexError for other than four axes.
    Formula: Vaswani et al. 2017, equation 1.
    """
    output, weights = shared.grouped_query_attention(
        keras, query, key, value, mask=mask, is_causal=is_causal, return_weights=True
    )
    return (output, weights) if return_weights else output


def kernels(call: Callable[[], Any]) -> set[str]:
    """What runs in ``call``: "einsum", or a kernel of torch's scaled_dot_product_attention."""
    return sdpa_kernels(call) or {"einsum"}
