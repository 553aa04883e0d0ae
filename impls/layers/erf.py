"""The error function, which the array API standard lacks: each library's own."""

import importlib

from attnspec.impls.layers.library import library
from attnspec.impls.layers.parameters import Array

HOMES = {"torch": "torch.special", "jax": "jax.scipy.special"}


def erf(x: Array) -> Array:
    """2/√π·∫₀ˣ exp(−t²) dt, element by element; where a library has none, that of ``math``."""
    name = library(x)
    if name in HOMES:
        return importlib.import_module(HOMES[name]).erf(x)
    return _elementwise(x)


def _elementwise(x: Array) -> Array:
    import math

    import numpy as np
    from array_api_compat import array_namespace

    values = np.vectorize(math.erf, otypes=["float64"])(np.asarray(x, np.float64))
    return array_namespace(x).asarray(values, dtype=x.dtype)
