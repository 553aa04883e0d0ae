"""Positional encoding and rotary embedding: those of ``attnspec.impls.positions``, by array library."""

import importlib
from typing import Any

from array_api_compat import array_namespace

from attnspec.impls.layers.checks import described, is_kind, want
from attnspec.impls.layers.library import library
from attnspec.impls.layers.parameters import Array

LAYOUTS = ("interleaved", "half-split")


def positional_encoding(x: Array, *, offset: int = 0) -> Array:
    """``x`` (B, n, width) plus the sinusoidal encoding: Vaswani et al. (2017), section 3.5."""
    return _module(x).positional_encoding(x, offset=offset)


def rotary_embedding(
    x: Array,
    *,
    offset: int = 0,
    base: float = 10000.0,
    layout: str = "interleaved",
) -> Array:
    """``x`` (B, heads, n, d) turned by its positions: Su et al., RoFormer (2021), equation 34.

    A pair of features is (2i, 2i + 1) in the layout "interleaved", (i, i + d/2) in "half-split", as LLaMA has them.
    ValueError for another layout, an odd d, and an x that is not of floating numbers.
    """
    fits = is_kind(x, "real floating") and x.ndim == 4 and x.shape[3] % 2 == 0
    want(fits, "rotary_embedding", "x (B, heads, n, d) of floating numbers, d even", described(x))
    want(layout in LAYOUTS, "rotary_embedding", f"layout {' or '.join(map(repr, LAYOUTS))}", repr(layout))
    if layout == "interleaved":
        return _module(x).rotary_embedding(x, offset=offset, base=base)
    turned = _module(x).rotary_embedding(_regrouped(x, 2), offset=offset, base=base)
    return _regrouped(turned, x.shape[-1] // 2)


def _regrouped(x: Array, rows: int) -> Array:
    """The features read as ``rows`` rows, and then column by column."""
    xp = array_namespace(x)
    grouped = xp.reshape(x, (*x.shape[:-1], rows, x.shape[-1] // max(rows, 1)))
    return xp.reshape(xp.permute_dims(grouped, (0, 1, 2, 4, 3)), x.shape)


def _module(x: Array) -> Any:
    name = library(x)
    if not name:
        raise ValueError(f"positions: wanted an array of NumPy, PyTorch or JAX, came {type(x).__name__}")
    return importlib.import_module(f"attnspec.impls.positions.{name}")
