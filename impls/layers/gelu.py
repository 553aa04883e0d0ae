"""GELU, whose normal distribution the array API standard lacks: each library has its own."""

import importlib
import importlib.util
import math

import numpy as np
from array_api_compat import array_namespace

from attnspec.impls.layers.library import library
from attnspec.impls.layers.parameters import Array

HAS_SCIPY = importlib.util.find_spec("scipy") is not None


def gelu(x: Array) -> Array:
    """x·Φ(x), Φ(x) = (1 + erf(x/√2))/2 being the normal distribution: Hendrycks & Gimpel, GELU (2016), section 2."""
    name = library(x)
    if name == "torch":
        return importlib.import_module("torch.nn.functional").gelu(x)
    if name == "numpy" and HAS_SCIPY and x.dtype in (np.float32, np.float64):
        return x * importlib.import_module("scipy.special").ndtr(x)  # few passes over x
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def erf(x: Array) -> Array:
    """2/√π·∫₀ˣ exp(−t²) dt, element by element: JAX's, else that of ``math``."""
    if library(x) == "jax":
        return importlib.import_module("jax.scipy.special").erf(x)
    values = np.vectorize(math.erf, otypes=["float64"])(np.asarray(x, np.float64))
    return array_namespace(x).asarray(values, dtype=x.dtype)
