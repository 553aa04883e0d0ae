"""Decoding with the operator GroupQueryAttention of com.microsoft: whole buffers go in, and come out with more in them.

Source: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GroupQueryAttention
"""

from typing import Any, NamedTuple

import numpy as np

from attnspec.impls.peers.shared.onnx_model import Array, Node, Value, described, given, merged, widened
from attnspec.impls.peers.shared.onnxruntime_session import run


class Cache(NamedTuple):
    """Buffers, and how many tokens of each sequence came so far; of a ring they hold the last ``window``."""

    past_key: Array  # (B, Hkv, capacity, D filled up to a multiple of 8)
    past_value: Array  # as past_key
    length: Array  # (B,)
    capacity: int
    window: int | None


def make_cache(
    batch: int, kv_heads: int, capacity: int, key_dim: int, value_dim: int, dtype: str, *, window: int | None = None
) -> Cache:
    """A cache without tokens. ``dtype`` is a name, such as "float32". ValueError for widths that differ."""
    if key_dim != value_dim:
        raise ValueError(f"value_dim: wanted key_dim, {key_dim}, came {value_dim}, in GroupQueryAttention")
    empty = widened(np.zeros((batch, kv_heads, capacity, key_dim), dtype))
    return Cache(empty, empty, np.zeros(batch, np.int32), capacity, window)


def attend_cached(
    query: Array, key: Array, value: Array, cache: Cache, *, lengths: Array | None = None, scale: float | None = None
) -> tuple[Array, Cache]:
    """Output (B, N, Hq, D) of query (B, N, Hq, D) over the cache and key (B, N, Hkv, D), and the cache after.

    Of the N tokens ``lengths`` (B,) are no padding. ValueError for more tokens than there is room for.
    """
    batch, tokens, heads, width = query.shape
    fresh = np.full(batch, tokens, np.int32) if lengths is None else lengths.astype(np.int32)
    length = cache.length + fresh
    if cache.window is None and (length > cache.capacity).any():
        raise ValueError(f"key: wanted {cache.capacity} tokens in all at most, came {length.max()}, in attend_cached")
    seen = np.maximum(length, 1)  # where nothing came yet, one token: its output is nobody's
    most = max(cache.capacity, int((seen - fresh).max()) + tokens)  # with room for the padding too
    arrays: dict[str, Array | None] = {"query": merged(widened(query)), "key": merged(widened(key))}
    arrays |= {"value": merged(widened(value)), "past_key": cache.past_key, "past_value": cache.past_value}
    arrays |= {"seqlens_k": seen - 1, "total_sequence_length": np.array(most, np.int32)}
    arrays |= dict.fromkeys(("cos_cache", "sin_cache", "position_ids", "attention_bias", "head_sink"))
    arrays |= dict.fromkeys(("k_scale", "v_scale", "q_norm_weight", "k_norm_weight")) | {"query_seqlens": fresh}
    attributes: dict[str, Any] = {"num_heads": heads, "kv_num_heads": key.shape[2]}
    attributes["scale"] = width**-0.5 if scale is None else scale
    if cache.window is not None:
        attributes |= {"local_window_size": cache.window, "sliding_window_cache": 1}
    kind = query.dtype.name
    outputs = (Value("output", kind, 3), Value("present_key", kind, 4), Value("present_value", kind, 4))
    node = Node("GroupQueryAttention", 23, described(arrays), outputs, tuple(attributes.items()), "com.microsoft")
    output, present_key, present_value = run(node, given(arrays))
    output = output.reshape(batch, tokens, heads, -1)[..., :width]
    return output, Cache(present_key, present_value, length, cache.capacity, cache.window)
