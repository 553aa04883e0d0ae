"""Attention in JAX, written to be read: differentiable, compilable, mappable; any device.

Attention(Q, K, V) = softmax(Q·Kᵀ/√d_k)·V: Vaswani et al., Attention Is All You Need (2017), equation 1.
Shapes: B batch entries, Hq query heads, Hkv key/value heads, L queries, S keys, D key width, Dv value width.
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp

from attnspec.impls.caching.jax import attend_cached as attend_cached
from attnspec.impls.caching.jax import make_cache as make_cache
from attnspec.impls.packing.jax import by_mask
from attnspec.impls.positions.jax import make_alibi_slopes as make_alibi_slopes
from attnspec.impls.positions.jax import positional_encoding as positional_encoding
from attnspec.impls.positions.jax import relative_bias as relative_bias
from attnspec.impls.positions.jax import rotary_embedding as rotary_embedding

ARRAYS = "jax"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}

Array = Any
Window = tuple[int | None, int | None]

matmul = functools.partial(jnp.matmul, precision="highest")  # by default float32 loses half its digits on a GPU


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
    alibi_slopes: Array | None = None,
    sinks: Array | None = None,
    key_lengths: Array | None = None,
    query_segments: Array | None = None,
    key_segments: Array | None = None,
    dropout_rate: float = 0.0,
    seed: int | None = None,
    return_weights: bool = False,
    return_lse: bool = False,
) -> Any:
    """Attention of ``query`` (B, Hq, L, D) over ``key`` (B, Hkv, S, D) and ``value`` (B, Hkv, S, Dv): (B, Hq, L, Dv).

    Without B, or without B and H, everything is without it. The output has the inputs' floating dtype; half precision
    is computed in float32. Query head h reads key/value head h // (Hq // Hkv).

    mask (to B, Hq, L, S): bool, True may attend; bias (likewise): added to the scores, -inf hides;
    is_causal: query i sees keys j ≤ i; window (left, right): i - left ≤ j ≤ i + right, None is open;
    scale: of the scores, 1/√D unless given; softcap c: c·tanh(score/c), None or 0 is off (Gemma 2, 2024, section 2);
    alibi_slopes (Hq): -slope·|i - j| on the scores (Press et al., ALiBi, 2022, section 3);
    sinks (Hq): logits that take weight and give no value (gpt-oss, 2025; Xiao et al., 2024);
    key_lengths (B): later keys are unseen; query_segments (B, L), key_segments (B, S): seen where equal;
    dropout_rate p: each weight is dropped with probability p and else divided by 1 - p (Srivastava et al., 2014), seed
    fixes which; return_weights adds the weights before dropout (B, Hq, L, S), return_lse the log of each row's
    denominator (B, Hq, L).
    A row that sees nothing gives 0, and gradients of 0. ValueError for malformed input.
    """
    if not 0 <= dropout_rate < 1:
        raise ValueError(f"dropout_rate: wanted a number from 0 to below 1, came {dropout_rate!r}, in attention()")
    options = {"mask": mask, "bias": bias, "alibi_slopes": alibi_slopes, "sinks": sinks, "key_lengths": key_lengths}
    options |= {"query_segments": query_segments, "key_segments": key_segments}
    given = {name: option for name, option in options.items() if option is not None}
    check(query, key, value, given, window)
    dtype, lead, high = query.dtype, query.shape[:-2], jnp.promote_types(query.dtype, jnp.float32)
    query, key, value = (a.astype(high).reshape((1,) * (4 - a.ndim) + a.shape) for a in (query, key, value))
    key, value = (jnp.repeat(a, query.shape[1] // max(1, a.shape[1]), axis=1) for a in (key, value))

    scores = dot_products(query, key) * (1 / math.sqrt(query.shape[3] or 1) if scale is None else scale)
    if softcap:
        scores = softcap * jnp.tanh(scores / softcap)
    after = jnp.arange(key.shape[2]) - jnp.arange(query.shape[2])[:, None]  # (L, S): j - i
    if bias is not None:
        scores = scores + bias.astype(high)
    if alibi_slopes is not None:
        scores = scores - alibi_slopes.astype(high)[:, None, None] * jnp.abs(after)
    visible = visibility(scores.shape, after, is_causal, window or (None, None), given)  # (B, Hq, L, S)
    weights, lse = softmax(scores, visible, None if sinks is None else sinks.astype(high))
    kept = dropout(weights, dropout_rate, seed) if dropout_rate else weights
    results = [weighted_sum(kept, value, visible).astype(dtype)]  # (B, Hq, L, Dv)
    results += [weights.astype(dtype)] * return_weights + [lse] * return_lse
    results = [result.reshape(lead + result.shape[2:]) for result in results]
    return tuple(results) if len(results) > 1 else results[0]


attend_packed = by_mask(attention)


def dot_products(query: Array, key: Array) -> Array:
    """How well each query agrees with each key; NaN with a key that is not finite.

    Such a key stays out of the product, or the gradients of queries that do not see it would hold 0·NaN.
    """
    odd = ~jnp.isfinite(key)
    scores = matmul(query, jnp.where(odd, 0, key).swapaxes(2, 3))  # (B, Hq, L, S)
    return jnp.where(odd.any(axis=3)[:, :, None], jnp.nan, scores)


def visibility(shape: tuple[int, ...], after: Array, is_causal: bool, window: Window, given: dict[str, Array]) -> Array:
    """Which keys each query may attend to, ``after`` (L, S) being j - i: the conjunction of every way to hide one."""
    visible = jnp.ones(shape, bool)
    if is_causal:
        visible &= after <= 0
    if window[0] is not None:
        visible &= after >= -window[0]
    if window[1] is not None:
        visible &= after <= window[1]
    if "mask" in given:
        visible &= given["mask"]
    if "bias" in given:
        visible &= given["bias"] != -jnp.inf
    if "key_lengths" in given:
        visible &= jnp.arange(shape[3]) < given["key_lengths"].reshape(-1, 1, 1, 1)
    if "query_segments" in given:
        query_id = given["query_segments"].reshape(shape[0], 1, shape[2], 1)
        visible &= query_id == given["key_segments"].reshape(shape[0], 1, 1, shape[3])
    return visible  # (B, Hq, L, S)


def softmax(scores: Array, visible: Array, sinks: Array | None) -> tuple[Array, Array]:
    """Weights ≥ 0 over the visible keys, and the log of each row's denominator (-inf where it is 0).

    One more column holds the sink; without one it is -inf, and 0 in a row that sees nothing, so that neither the
    softmax nor its gradient divides by 0.
    """
    empty = ~visible.any(axis=3, keepdims=True)
    nothing = jnp.where(empty, 0, -jnp.inf).astype(scores.dtype)
    sink = nothing if sinks is None else jnp.broadcast_to(sinks[:, None, None], nothing.shape)  # (B, Hq, L, 1)
    logits = jnp.concatenate([jnp.where(visible, scores, -jnp.inf), sink], axis=3)
    lse = jax.nn.logsumexp(logits, axis=3)
    return jax.nn.softmax(logits)[..., :-1], lse if sinks is not None else jnp.where(empty[..., 0], -jnp.inf, lse)


def dropout(weights: Array, rate: float, seed: int | None) -> Array:
    """Some weights dropped, the others larger, so that the expected output is what it was."""
    if seed is None:
        raise ValueError("seed: wanted a whole number along with a dropout_rate, came None, in attention()")
    key = jax.random.key(seed, impl="rbg")  # compiles in a tenth of the time that the default takes
    kept = jax.random.bernoulli(key, 1 - rate, weights.shape)
    return jnp.where(kept, weights / (1 - rate), 0)


def weighted_sum(weights: Array, value: Array, visible: Array) -> Array:
    """Multiply each value with its weight, and sum; NaN where a value that is not finite is seen, and only there."""
    odd = ~jnp.isfinite(value)
    seen = matmul(visible.astype(value.dtype), odd.astype(value.dtype)) > 0  # (B, Hq, L, Dv)
    return jnp.where(seen, jnp.nan, matmul(weights, jnp.where(odd, 0, value)))


def check(query: Array, key: Array, value: Array, given: dict[str, Array], window: Any) -> None:
    """Raise ValueError that tells what was wanted, what came, and in which call."""
    arrays = {"query": query, "key": key, "value": value, **given}

    def want(good: bool, name: str, wanted: str) -> None:
        if not good:
            call = {argument: f"{array.dtype}{array.shape}" for argument, array in arrays.items()}
            came = window if name == "window" else call.get(name)
            raise ValueError(f"{name}: wanted {wanted}, came {came}, in attention({call})")

    for name, array in arrays.items():
        if not hasattr(array, "shape") or not hasattr(array, "dtype"):
            raise ValueError(f"{name}: wanted an array, came {array!r}, in attention()")
    want(query.ndim in (2, 3, 4), "query", "2, 3 or 4 axes")
    batch, heads, queries, keys = query.shape[:-3], query.shape[-3:-2], query.shape[-2:-1], key.shape[-2:-1]
    want(key.ndim == query.ndim and key.shape[:-3] == batch, "key", f"rank {query.ndim}, batch {batch} as query")
    want(key.shape[-1] == query.shape[-1], "key", f"width {query.shape[-1]} as query")
    want(value.ndim == key.ndim and value.shape[:-1] == key.shape[:-1], "value", f"{key.shape[:-1]} as key")
    want(key.shape[-3:-2] == heads or heads[0] % (key.shape[-3] or math.inf) == 0, "key", f"heads dividing {heads}")
    full = batch + heads + queries + keys
    shapes = {"alibi_slopes": heads or (1,), "sinks": heads or (1,), "key_lengths": batch}
    shapes |= {"query_segments": batch + queries, "key_segments": batch + keys}
    for name, array in given.items():
        if name in shapes:
            want(array.shape == shapes[name], name, f"shape {shapes[name]}")
        else:
            fits = all(size in (1, most) for size, most in zip(array.shape[::-1], full[::-1], strict=False))
            want(fits and array.ndim <= query.ndim, name, f"what broadcasts to {full}")
    for name, array in arrays.items():
        integral = jnp.bool_ if name == "mask" else jnp.integer
        kind = integral if name in ("mask", "key_lengths", "query_segments", "key_segments") else jnp.floating
        want(jnp.issubdtype(array.dtype, kind), name, f"dtype {kind.__name__}")
    want(query.dtype == key.dtype == value.dtype, "key", "one dtype for query, key and value")
    want(("query_segments" in given) == ("key_segments" in given), "query_segments", "key_segments too, or neither")
    pair = window is None or (isinstance(window, tuple) and len(window) == 2)
    want(
        pair and all(isinstance(bound, int | None) for bound in window or ()),
        "window",
        "(left, right), integers or None",
    )
