"""Keras on one of its backends, and its attention layers with projections that change nothing.

Keras takes its backend when it is first imported, so a process has one.
"""

import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

_LAYERS: dict[tuple[Any, ...], Any] = {}
"""Layers by what they are made for: their weights depend on nothing else."""


def keras_on(backend: str) -> ModuleType:
    """The package keras on "torch", "jax" or "tensorflow". ValueError if it runs on another one already."""
    if "keras" not in sys.modules:
        os.environ["KERAS_BACKEND"] = backend
    import keras

    came = keras.backend.backend()
    if came != backend:
        raise ValueError(f"KERAS_BACKEND: wanted {backend}, came {came} in this process already, in import keras")
    module: ModuleType = keras
    return module


def ops_attention(
    keras: ModuleType,
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    bias: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Any:
    """keras.ops.dot_product_attention of query (B, L, Hq, D), key (B, S, Hkv, D), value (B, S, Hkv, Dv).

    Gives (B, L, Hq, Dv). mask is bool (True attends), bias floating; both broadcast to (B, Hq, L, S).
    """
    return keras.ops.dot_product_attention(query, key, value, bias=bias, mask=mask, scale=scale, is_causal=is_causal)


def multihead_attention(
    keras: ModuleType,
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    is_causal: bool = False,
    return_weights: bool = False,
) -> Any:
    """keras.layers.MultiHeadAttention of query (B, L, H, D), key (B, S, H, D) and value (B, S, H, Dv): (B, L, H, Dv).

    mask is bool (True attends) and broadcasts to (B, H, L, S); return_weights adds (B, H, L, S). ValueError for other
    numbers of heads in key and value than in query, which the layer's projections would turn into its own.
    """
    (heads, width), out = query.shape[-2:], value.shape[-1]
    if key.shape[-2] != heads or value.shape[-2] != heads:
        came = f"{heads}, {key.shape[-2]} and {value.shape[-2]}"
        raise ValueError(f"key: wanted as many heads as query and value, came {came}, in keras MultiHeadAttention")

    def make(dtype: str) -> Any:
        layer = keras.layers.MultiHeadAttention
        return layer(heads, width, value_dim=out, output_shape=heads * out, use_bias=False, dtype=dtype)

    return _called(keras, make, query, key, value, mask, is_causal, return_weights)


def grouped_query_attention(
    keras: ModuleType,
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    is_causal: bool = False,
    return_weights: bool = False,
) -> Any:
    """keras.layers.GroupQueryAttention of query (B, L, Hq, D), key and value (B, S, Hkv, D): (B, L, Hq, D).

    mask is bool (True attends) and broadcasts to (B, Hq, L, S); return_weights adds (B, Hq, L, S).
    """
    (heads, width), groups = query.shape[-2:], key.shape[-2]

    def make(dtype: str) -> Any:
        return keras.layers.GroupQueryAttention(width, heads, groups, use_bias=False, dtype=dtype)

    return _called(keras, make, query, key, value, mask, is_causal, return_weights)


def _called(
    keras: ModuleType,
    make: Callable[[str], Any],
    query: Any,
    key: Any,
    value: Any,
    mask: Any,
    is_causal: bool,
    return_weights: bool,
) -> Any:
    """The layer's answer, heads joined for its projections and told apart again behind them."""
    joined = [
        keras.ops.reshape(array, (*array.shape[:-2], array.shape[-2] * array.shape[-1]))
        for array in (query, key, value)
    ]
    layer = _layer(keras, make, query, key, value, joined)
    returned = layer(
        joined[0],
        joined[2],
        key=joined[1],
        attention_mask=_four_axes(keras, mask),
        use_causal_mask=is_causal,
        return_attention_scores=return_weights,
    )
    output, *weights = returned if return_weights else (returned,)
    output = keras.ops.reshape(output, (*query.shape[:-1], value.shape[-1]))
    return (output, *weights) if return_weights else output


def _four_axes(keras: ModuleType, mask: Any) -> Any:
    """The layers read three axes as (B, L, S)."""
    return None if mask is None else keras.ops.reshape(mask, (1,) * (4 - len(mask.shape)) + tuple(mask.shape))


def _layer(keras: ModuleType, make: Callable[[str], Any], query: Any, key: Any, value: Any, joined: list[Any]) -> Any:
    """The layer for arrays of these shapes, made at the first call; all its weights are the identity."""
    dtype = keras.backend.standardize_dtype(query.dtype)
    key = (make.__qualname__, dtype, *(tuple(array.shape[-2:]) for array in (query, key, value)))
    if key not in _LAYERS:
        layer = make(dtype)
        shapes = [(1, *array.shape[1:]) for array in joined]
        layer.build(shapes[0], shapes[2], shapes[1])
        for weight in layer.weights:
            side = round(float(np.prod(weight.shape)) ** 0.5)
            weight.assign(np.eye(side).reshape(weight.shape))
        layer.trainable = False
        _LAYERS[key] = layer
    return _LAYERS[key]
