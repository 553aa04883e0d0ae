"""Attention in JAX over blocks of queries and keys: memory O(L + S), gradients by computing the scores again.

Source: Dao, FlashAttention-2 (2023), algorithms 1 and 2, over Milakov & Gimelshein's online softmax (2018).
Shapes: B batch entries, H = K G query heads, of which G share one of K key/value heads, L queries, S keys, D and Dv
widths. A tile is the scores (B, K, G, block of queries, block of keys); those that causality or the window hides as a
whole are skipped. Only blocks are reshaped: of an array that is, XLA gives loops a copy.
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from attnspec.impls.blockwise.call import Window, five_axes, reach
from attnspec.impls.blockwise.jax import Keys, Plan, added, apart, block, dot, joined, logits, padded, sweep
from attnspec.impls.jax_naive import check
from attnspec.impls.packing.jax import by_mask

ARRAYS = "jax"
DTYPES = ("float64", "float32", "float16", "bfloat16")
LACKS = {"double_gradient", "forward_gradient"}  # the gradients are a rule, and loops end where positions tell
CONVENTIONS = {"intermediate_dtype": "float32", "masked_nonfinite": "propagates", "value_range": "sum"}

Array = Any
Inputs = tuple[Array, Array, Array]


def attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    mask: Array | None = None,
    bias: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    window: Window | None = None,
    sinks: Array | None = None,
    key_lengths: Array | None = None,
    query_segments: Array | None = None,
    key_segments: Array | None = None,
    return_lse: bool = False,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    Without B, or without B and H, everything is without it; the output has the inputs' floating dtype, and half
    precision is computed in float32. Options are those of ``jax_naive.attention``. ValueError for malformed input.
    """
    arrays = {"mask": mask, "bias": bias, "key_lengths": key_lengths}
    arrays |= {"query_segments": query_segments, "key_segments": key_segments}
    given = {name: array for name, array in arrays.items() if array is not None}
    check(query, key, value, {**given, "sinks": sinks} if sinks is not None else given, window)
    dtype, lead, high = query.dtype, query.shape[:-1], jnp.promote_types(query.dtype, jnp.float32)
    query, key, value = (a.astype(high).reshape((1,) * (4 - a.ndim) + a.shape) for a in (query, key, value))
    (batch, heads, queries, dim), kv_heads, keys = query.shape, key.shape[1], key.shape[2]
    left, right = reach(window, is_causal, queries + keys)
    plan = Plan(queries, keys, left, right, float(softcap or 0))

    factor = jnp.asarray(1 / math.sqrt(dim or 1) if scale is None else scale, high)
    options = five_axes(given, batch, kv_heads, queries, keys)
    options = {n: padded(padded(a, 3, plan.rows), 4, plan.columns) for n, a in options.items()}
    bias = options["bias"].astype(high) if "bias" in options else None
    nothing = jnp.full(heads, -jnp.inf, high) if sinks is None else sinks.astype(high)
    hidden = {name: array for name, array in options.items() if name != "bias"}
    wide = (padded(query, 2, plan.rows), padded(key, 2, plan.columns), padded(value, 2, plan.columns))
    output, lse = _attention(plan, wide, factor, bias, apart(nothing[None], kv_heads)[0], hidden)
    output = output[:, :, :queries].reshape(*lead, value.shape[3]).astype(dtype)
    return (output, lse[:, :, :queries].reshape(lead)) if return_lse else output


attend_packed = by_mask(attention)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attention(
    plan: Plan, arrays: Inputs, scale: Array, bias: Array | None, sinks: Array, hidden: dict[str, Array]
) -> tuple[Array, Array]:
    """Output (B, H, L, Dv) and log-sum-exp (B, H, L) of queries (B, H, L, D), sinks (K, G)."""
    query, key, value = arrays
    options = hidden if bias is None else {**hidden, "bias": bias}

    def one(number: Array, whole: tuple[Array, Array]) -> tuple[Array, Array]:
        first = number * plan.rows
        rows = scale * apart(block(query, 2, first, plan.rows), key.shape[1])

        def step(at: Keys, sums: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            top, weight, total = sums
            scores, _ = logits(plan, rows, block(key, 2, at.start, at.size), options, first, at)
            new = jnp.maximum(top, scores.max(axis=4, initial=-jnp.inf))
            weights, fade = jnp.exp(scores - new[..., None]), jnp.exp(top - new)
            added = dot("bkgqs,bksd->bkgqd", weights, block(value, 2, at.start, at.size))
            return new, fade * weight + weights.sum(axis=4), fade[..., None] * total + added

        sink = jnp.broadcast_to(sinks[:, :, None], rows.shape[:-1])
        top = jnp.maximum(sink, jnp.finfo(rows.dtype).min)  # where -inf would give NaN differences
        sums = (top, jnp.exp(sink - top), jnp.zeros((*rows.shape[:-1], value.shape[3]), rows.dtype))
        top, weight, total = sweep(plan, first, plan.columns, step, sums)
        output = total / jnp.where(weight == 0, 1, weight)[..., None]
        return added(whole[0], joined(output), (2, first)), added(whole[1], joined(top + jnp.log(weight)), (2, first))

    zeros = (jnp.zeros((*query.shape[:3], value.shape[3]), query.dtype), jnp.zeros(query.shape[:3], query.dtype))
    found: tuple[Array, Array] = lax.fori_loop(0, query.shape[2] // plan.rows, one, zeros)
    return found


def _forward(plan: Plan, *arguments: Any) -> tuple[Any, Any]:
    output, lse = _attention(plan, *arguments)
    return (output, lse), (*arguments, output, lse)


def _backward(plan: Plan, saved: Any, cotangents: tuple[Array, Array]) -> tuple[Any, ...]:
    """FlashAttention-2, algorithm 2: weights again from the log-sum-exp, a tile at a time."""
    (query, key, value), scale, bias, sinks, hidden, output, lse = saved
    options = hidden if bias is None else {**hidden, "bias": bias}
    back, slope_lse = cotangents

    def one(number: Array, whole: Any) -> Any:
        first, (dquery, dscale, dsinks, *sums) = number * plan.rows, whole
        parts = (query, output, lse, back, slope_lse)
        plain, below, log, above, slope_log = (apart(block(a, 2, first, plan.rows), key.shape[1]) for a in parts)
        rows, level = scale * plain, jnp.where(log == -jnp.inf, 0, log)
        spent = (above * below).sum(axis=4) - slope_log

        def step(at: Keys, sums: Any) -> Any:
            drows, dkey, dvalue, dbias = sums
            keys, values = (block(a, 2, at.start, at.size) for a in (key, value))
            scores, slope = logits(plan, rows, keys, options, first, at)
            weights = jnp.exp(scores - level[..., None])
            dlogits = weights * (dot("bkgqd,bksd->bkgqs", above, values) - spent[..., None])
            dscores = dlogits * slope
            dvalue = added(dvalue, dot("bkgqs,bkgqd->bksd", weights, above), (2, at.start))
            dkey = added(dkey, dot("bkgqs,bkgqd->bksd", dscores, rows), (2, at.start))
            dbias = None if dbias is None else added(dbias, dlogits, (3, first), (4, at.start))
            return drows + dot("bkgqs,bksd->bkgqd", dscores, keys), dkey, dvalue, dbias

        drows, *sums = sweep(plan, first, plan.narrow, step, (jnp.zeros_like(rows), *sums))
        dsinks = dsinks - (jnp.exp(sinks[:, :, None] - level) * spent).sum(axis=(0, 3))
        return added(dquery, joined(scale * drows), (2, first)), dscale + (drows * plain).sum(), dsinks, *sums

    zeros = jax.tree.map(jnp.zeros_like, (query, scale, sinks, key, value, bias))
    dquery, dscale, dsinks, dkey, dvalue, dbias = lax.fori_loop(0, query.shape[2] // plan.rows, one, zeros)
    return (dquery, dkey, dvalue), dscale, dbias, dsinks, None


_attention.defvjp(_forward, _backward)
