"""Projections that change nothing, for modules of JAX's libraries."""

from typing import Any

import jax.numpy as jnp


def identity(key: Any, shape: tuple[int, ...], dtype: Any, *_: Any, **__: Any) -> Any:
    """The identity as a kernel of ``shape``, called as Flax calls an initializer.

    ValueError where the module's features in and out differ: its arrays are not those that it is made for.
    """
    if len(set(shape)) > 1:
        raise ValueError(f"kernel: wanted as many features in as out, came {shape}, in the projections")
    return jnp.eye(shape[0], dtype=dtype)
