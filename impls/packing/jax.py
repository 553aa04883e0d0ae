"""Packed sequences in JAX: one behind the other along one axis, where each begins told by offsets, and no padding.

The offsets are the cumulative sequence lengths of flash-attention's ``flash_attn_varlen_func`` (Dao, FlashAttention-2,
2023). Sequences are told apart by a mask over the whole pack, for XLA compiles one program for all offsets that way.
Shapes: T queries and S keys in all, N sequences, Hq query heads, Hkv key/value heads, D and Dv widths.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

Array = Any
Window = tuple[int | None, int | None]


def by_mask(attention: Callable[..., Any]) -> Callable[..., Any]:
    """``attend_packed`` made of an ``attention`` of (H, L, D) with a mask and a bias."""
    masked = jax.jit(partial(_masked, attention), static_argnames=("is_causal", "scale", "window", "softcap"))

    def attend_packed(
        query: Array,
        key: Array,
        value: Array,
        query_offsets: Array,
        key_offsets: Array,
        *,
        is_causal: bool = False,
        scale: float | None = None,
        window: Window | None = None,
        softcap: float | None = None,
        alibi_slopes: Array | None = None,
        sinks: Array | None = None,
    ) -> Array:
        """Attention of each sequence over itself: query (T, Hq, D), key (S, Hkv, D), value (S, Hkv, Dv): (T, Hq, Dv).

        query_offsets and key_offsets (N + 1), integers, rise from 0 to T and to S: sequence b has the queries from
        query_offsets[b] to before query_offsets[b + 1], and the keys likewise. The dtype is the output's. Keywords are
        those of ``attention``, with positions counted within the sequence. ValueError for malformed input; offsets
        that are traced have no values yet to check.
        """
        check(query, key, value, query_offsets, key_offsets)
        options = {"is_causal": is_causal, "scale": scale, "window": window, "softcap": softcap}
        return masked(query, key, value, query_offsets, key_offsets, alibi_slopes, sinks, **options)

    return attend_packed


def _masked(
    attention: Callable[..., Any],
    query: Array,
    key: Array,
    value: Array,
    query_offsets: Array,
    key_offsets: Array,
    alibi_slopes: Array | None,
    sinks: Array | None,
    is_causal: bool,
    scale: float | None,
    window: Window | None,
    softcap: float | None,
) -> Array:
    query_id, query_place = places(query_offsets, len(query))  # (T)
    key_id, key_place = places(key_offsets, len(key))  # (S)
    after = key_place - query_place[:, None]  # (T, S)
    left, right = window or (None, None)
    visible = query_id[:, None] == key_id
    if is_causal:
        visible &= after <= 0
    if left is not None:
        visible &= after >= -left
    if right is not None:
        visible &= after <= right
    options = {"mask": visible, "scale": scale, "softcap": softcap, "sinks": sinks}
    if alibi_slopes is not None:
        high = jnp.promote_types(query.dtype, jnp.float32)
        options["bias"] = -alibi_slopes.astype(high)[:, None, None] * jnp.abs(after)  # (Hq, T, S)
    return attention(*(a.swapaxes(0, 1) for a in (query, key, value)), **options).swapaxes(0, 1)


def places(offsets: Array, tokens: int) -> tuple[Array, Array]:
    """(tokens): which sequence each token is of, and where in it. Where an offset is repeated, a sequence is empty."""
    token = jnp.arange(tokens)
    sequence = jnp.searchsorted(offsets, token, side="right") - 1
    return sequence, token - offsets[sequence]


def check(query: Array, key: Array, value: Array, query_offsets: Array, key_offsets: Array) -> None:
    """Raise ValueError for what is no pack; the rest is checked by ``attention``."""
    for name, array in (("query", query), ("key", key), ("value", value)):
        want(array.ndim == 3, f"{name} of 3 axes, (tokens, heads, width)", array.shape)
    want(len(value) == len(key), f"as many values as keys, {len(key)}", len(value))
    for name, offsets, tokens in (("query_offsets", query_offsets, query), ("key_offsets", key_offsets, key)):
        integral = jnp.issubdtype(offsets.dtype, jnp.integer)
        came = f"{offsets.dtype}{offsets.shape}"
        want(offsets.ndim == 1 and offsets.size > 0 and integral, f"{name} (N + 1), integers", came)
        if not isinstance(offsets, jax.core.Tracer):
            ends = offsets.tolist()
            rising = ends == sorted(ends) and (ends[0], ends[-1]) == (0, len(tokens))
            want(rising, f"{name} rising from 0 to {len(tokens)}", ends)
    want(len(query_offsets) == len(key_offsets), f"key_offsets ({len(query_offsets)})", key_offsets.shape)


def want(good: bool, wanted: str, came: object) -> None:
    """ValueError that says what was wanted and what came."""
    if not good:
        raise ValueError(f"attend_packed: wanted {wanted}, came {came}")
