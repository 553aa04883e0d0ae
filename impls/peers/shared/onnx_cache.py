"""Decoding with the node ``Attention``: past keys and values go in, all there are come out."""

from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from attnspec.impls.peers.shared.onnx_attention import Run
from attnspec.impls.peers.shared.onnx_model import Array, Node, Value, described, given

Decode = Callable[..., tuple[Array, "Cache"]]


class Cache(NamedTuple):
    """What came so far, and how many tokens may."""

    past_key: Array  # (B, Hkv, tokens, D)
    past_value: Array  # (B, Hkv, tokens, Dv)
    capacity: int


def make_cache(batch: int, kv_heads: int, capacity: int, key_dim: int, value_dim: int, dtype: str) -> Cache:
    """A cache without tokens. ``dtype`` is a name, such as "float32"."""
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    past_key, past_value = (np.zeros((batch, kv_heads, 0, width), kind) for width in (key_dim, value_dim))
    return Cache(past_key, past_value, capacity)


def decoding(run: Run, opset: int) -> Decode:
    """The contract's ``attend_cached`` on the node of an opset."""

    def attend_cached(
        query: Array, key: Array, value: Array, cache: Cache, *, scale: float | None = None
    ) -> tuple[Array, Cache]:
        """Output (B, Hq, N, Dv) of query (B, Hq, N, D) over the cache and key (B, Hkv, N, D), and the cache after.

        ValueError for more tokens than there is room for; the node itself has no end.
        """
        tokens = cache.past_key.shape[2] + key.shape[2]
        if tokens > cache.capacity:
            raise ValueError(f"key: wanted {cache.capacity} tokens in all at most, came {tokens}, in attend_cached")
        arrays = {"Q": query, "K": key, "V": value, "attn_mask": None}
        arrays |= {"past_key": cache.past_key, "past_value": cache.past_value}
        outputs = tuple(Value(name, query.dtype.name, 4) for name in ("Y", "present_key", "present_value"))
        attributes: dict[str, Any] = {"is_causal": 1}
        if scale is not None:
            attributes["scale"] = scale
        node = Node("Attention", opset, described(arrays), outputs, tuple(attributes.items()))
        output, present_key, present_value = run(node, given(arrays))
        return output, Cache(present_key, present_value, cache.capacity)

    return attend_cached
