"""Which array library an array is of, for the few things that the array API standard leaves out."""

import importlib
import math

from array_api_compat import array_namespace, is_jax_array, is_numpy_array, is_torch_array

from attnspec.impls.layers.parameters import Array

TESTS = {"numpy": is_numpy_array, "torch": is_torch_array, "jax": is_jax_array}


def library(x: Array) -> str:
    """ "numpy", "torch" or "jax"; "" for another one."""
    return next((name for name, is_of in TESTS.items() if is_of(x)), "")


def product(a: Array, b: Array) -> Array:
    """a @ b in the arrays' own precision: JAX on a GPU would by default drop half the digits of float32."""
    if is_jax_array(a):
        return importlib.import_module("jax.numpy").matmul(a, b, precision="highest")
    return a @ b


def affine(x: Array, weight: Array, bias: Array | None) -> Array:
    """x·Wᵀ + b over the last axis of ``x`` (…, inputs), with weight (outputs, inputs) and bias (outputs,)."""
    if is_torch_array(x):
        return importlib.import_module("torch.nn.functional").linear(x, weight, bias)  # adds b on the way
    xp, lead = array_namespace(x), x.shape[:-1]
    rows = xp.reshape(x, (math.prod(lead), x.shape[-1]))  # NumPy takes a stack of matrices one by one
    y = product(rows, weight.T)
    return xp.reshape(y if bias is None else y + bias, (*lead, weight.shape[0]))
