"""haiku.MultiHeadAttention, its projections being the identity."""

from functools import partial
from typing import Any

import haiku as hk
import jax

from attnspec.impls.peers.shared.jax_identity import identity
from attnspec.impls.peers.shared.reasons import JOINED

ARRAYS = "jax"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("dm-haiku",)
LACKS = {"gqa", "rank2"}
KNOWN_ISSUES = {
    "zero_size": "a width of 0 gives NaN, for 0 is divided by its root; other empty arrays raise; unreported",
    "rejection.lengths": "a key of one position is repeated for a longer value, and the values are summed; unreported",
    "rejection.mask_dtype": "a mask of 0 and -inf is read as booleans, which shows what it should hide; unreported",
    "rejection.integers": "the root of the width is cut to an integer; unreported",
    "mask+float16": "a row without visible keys is NaN, for -1e30 is -inf there, and the mean elsewhere; unreported",
    "masking.nan_value_shows": JOINED,
}
DOCUMENTATION = {
    "rejection.lengths": (
        "key: Embeddings sequence used to compute keys; shape [..., T, D_k]. "
        "value: Embeddings sequence used to compute values; shape [..., T, D_v].",
        "https://dm-haiku.readthedocs.io/en/latest/api.html#haiku.MultiHeadAttention",
    ),
}
CONVENTIONS = {"layout": "BLHD", "empty_row": "mean", "masked_nonfinite": "propagates"}


def attention(query: Any, key: Any, value: Any, *, mask: Any = None) -> Any:
    """Attention of query (B, L, H, D) over key (B, S, H, D) and value (B, S, H, Dv): (B, L, H, Dv), or all without B.

    mask is bool (True attends) and broadcasts to (B, H, L, S).
    Formula: Vaswani et al. 2017, section 3.2.2.
    """
    (heads, width), out = query.shape[-2:], value.shape[-1]
    if mask is not None:
        mask = mask.reshape((1,) * (query.ndim - mask.ndim) + mask.shape)

    def forward(*inputs: Any) -> Any:
        layer = hk.MultiHeadAttention(
            heads,
            width,
            value_size=out,
            model_size=heads * out,
            w_init=partial(identity, None),
            with_bias=False,
        )
        return layer(*inputs, mask)

    inputs = [array.reshape(*array.shape[:-2], array.shape[-2] * array.shape[-1]) for array in (query, key, value)]
    called = hk.transform(forward)
    output = called.apply(called.init(jax.random.key(0), *inputs), None, *inputs)
    return output.reshape(*query.shape[:-1], out)
