"""The residual connection around a layer, with its LayerNorm before or after."""

from collections.abc import Callable
from typing import Any

from attnspec.impls.layers.dropout import Seed, dropout
from attnspec.impls.layers.parameters import Array


def residual(
    x: Array,
    layer: Callable[[Array], Array],
    norm: Callable[..., Any],
    *,
    norm_first: bool,
    rate: float = 0.0,
    seed: Seed = None,
) -> Array:
    """``x`` (B, n, width) and what ``layer`` makes of it, to the same shape.

    Post-norm: norm(x + layer(x)), Vaswani et al. (2017), section 3.1. Pre-norm: x + layer(norm(x)), Xiong et al., On
    Layer Normalization in the Transformer Architecture (2020), section 3. Dropout is on what the layer gives.
    """
    if norm_first:
        return x + dropout(layer(norm(x)), rate, seed)
    return norm(x + dropout(layer(x), rate, seed))
