"""equinox.nn.MultiheadAttention, mapped over the batch, its projections being the identity."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from attnspec.impls.peers.shared.jax_identity import identity
from attnspec.impls.peers.shared.reasons import JOINED

ARRAYS = "jax"
DTYPES = ("float64", "float32", "float16", "bfloat16")
PACKAGES = ("equinox",)
LACKS = {"gqa", "rank2"}
KNOWN_ISSUES = {
    "zero_size": "a width of 0 gives NaN, for 0 is divided by its root; other empty arrays raise; unreported",
    "rejection.mask_dtype": "a mask of 0 and -inf is read as booleans, which shows what it should hide; unreported",
    "rejection.dropout_rate": "a rate below 0 shrinks the weights, one of 1 or more gives 0; unreported",
    "masking.nan_value_shows": JOINED,
}
DOCUMENTATION = {
    "rejection.dropout_rate": (
        "`dropout_p`: Dropout probability on attention weights.",
        "https://docs.kidger.site/equinox/api/nn/attention/",
    ),
}
CONVENTIONS = {"layout": "BLHD", "empty_row": "mean", "masked_nonfinite": "propagates"}


def attention(query: Any, key: Any, value: Any, *, mask: Any = None, dropout_rate: float = 0.0, seed: int = 0) -> Any:
    """Attention of query (B, L, H, D) over key (B, S, H, D) and value (B, S, H, Dv): (B, L, H, Dv), or all without B.

    mask is bool (True attends) and broadcasts to (B, H, L, S). Of the weights, dropout_rate are left out, others in
    each batch and head; seed says which.
    Formula: Vaswani et al. 2017, section 3.2.2.
    """
    (heads, width), out = query.shape[-2:], value.shape[-1]
    random = jax.random.key(seed)
    layer = eqx.nn.MultiheadAttention(
        heads,
        query_size=heads * width,
        value_size=heads * out,
        output_size=heads * out,
        qk_size=width,
        vo_size=out,
        dropout_p=dropout_rate,
        dtype=query.dtype,
        key=random,
    )
    layer = jax.tree.map(lambda leaf: identity(key, leaf.shape, leaf.dtype) if eqx.is_array(leaf) else leaf, layer)
    inputs = [array.reshape(*array.shape[:-2], array.shape[-2] * array.shape[-1]) for array in (query, key, value)]
    if mask is not None:
        mask = jnp.broadcast_to(mask, (*query.shape[:-3], heads, query.shape[-3], key.shape[-3]))
    if query.ndim == 3:
        return layer(*inputs, mask, key=random).reshape(*query.shape[:-1], out)
    batch = jax.random.split(random, query.shape[0])
    output = jax.vmap(lambda q, k, v, m, r: layer(q, k, v, m, key=r))(*inputs, mask, batch)
    return output.reshape(*query.shape[:-1], out)
