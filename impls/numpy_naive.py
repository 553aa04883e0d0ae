"""Scaled dot-product self-attention in NumPy, one function a step, written to be read.

Attention(Q, K, V) = softmax(Q·Kᵀ/√d_k)·V: Vaswani et al., Attention Is All You Need (2017), equation 1. ``trace`` shows
the eight steps of the textbooks one by one; ``attention`` takes the same steps for a batch of heads, with every option.
Shapes: B batch entries, Hq query heads, Hkv key/value heads, L queries, S keys, D key width, Dv value width.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnspec.impls.caching.numpy import attend_cached as attend_cached
from attnspec.impls.caching.numpy import make_cache as make_cache
from attnspec.impls.packing.numpy import by_sequence
from attnspec.impls.positions.numpy import make_alibi_slopes as make_alibi_slopes
from attnspec.impls.positions.numpy import positional_encoding as positional_encoding
from attnspec.impls.positions.numpy import relative_bias as relative_bias
from attnspec.impls.positions.numpy import rotary_embedding as rotary_embedding

ARRAYS = "numpy"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}

Array = NDArray[Any]


def trace(
    x: Array, w_query: Array, w_key: Array, w_value: Array, scale: float | None = None
) -> dict[str, NDArray[np.float64]]:
    """Every step of self-attention over ``x`` (L, E), by name and in order; weights (E, D), (E, D), (E, Dv).

    ``scale`` is 1/√D unless given; the textbooks' example takes 1.
    """
    x, w_query, w_key, w_value = (np.asarray(a, np.float64) for a in (x, w_query, w_key, w_value))
    steps = {"inputs": x, "query weights": w_query, "key weights": w_key, "value weights": w_value}
    query = steps["query"] = x @ w_query  # (L, D)
    key = steps["key"] = x @ w_key  # (L, D)
    value = steps["value"] = x @ w_value  # (L, Dv)
    raw = steps["scores"] = dot_products(query, key)  # (L, L)
    scaled = steps["scaled scores"] = raw * (default_scale(query) if scale is None else scale)  # (L, L)
    weights = steps["softmax"] = softmax(scaled, np.ones(scaled.shape, bool))[0]  # (L, L)
    steps["weighted values"] = weights[:, :, None] * value  # (L, L, Dv)
    steps["output"] = steps["weighted values"].sum(axis=1)  # (L, Dv)
    return steps


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
    window: tuple[int | None, int | None] | None = None,
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

    Without B, or without B and H, everything is without it. The dtype is float64, float32, float16 or bfloat16 and is
    the output's; half precision is computed in float32. Query head h reads key/value head h // (Hq // Hkv).

    mask (to B, Hq, L, S): bool, True may attend; bias (likewise): added to the scores, -inf hides;
    is_causal: query i sees keys j ≤ i; window (left, right): i - left ≤ j ≤ i + right, None is open;
    scale: of the scores, 1/√D unless given; softcap c: c·tanh(score/c), None or 0 is off (Gemma 2, 2024, section 2);
    alibi_slopes (Hq): -slope·|i - j| on the scores (Press et al., ALiBi, 2022, section 3);
    sinks (Hq): logits that take weight and give no value (gpt-oss, 2025; Xiao et al., 2024);
    key_lengths (B): later keys are unseen; query_segments (B, L), key_segments (B, S): seen where equal;
    dropout_rate p: each weight is dropped with probability p and else divided by 1 - p (Srivastava et al., 2014), seed
    fixes which; return_weights adds the weights before dropout (B, Hq, L, S), return_lse the log of each row's
    denominator (B, Hq, L).
    A row that sees nothing gives 0. ValueError for malformed input.
    """
    if not 0 <= dropout_rate < 1:
        raise ValueError(f"dropout_rate: wanted a number from 0 to below 1, came {dropout_rate!r}, in attention()")
    options = {"mask": mask, "bias": bias, "alibi_slopes": alibi_slopes, "sinks": sinks, "window": window}
    options |= {"key_lengths": key_lengths, "query_segments": query_segments, "key_segments": key_segments}
    check({"query": query, "key": key, "value": value, **options})
    dtype, lead, high = query.dtype, query.shape[:-2], np.promote_types(query.dtype, np.float32)
    query, key, value = (a.astype(high, copy=False).reshape((1,) * (4 - a.ndim) + a.shape) for a in (query, key, value))
    heads = query.shape[1]

    with np.errstate(all="ignore"):
        scores = dot_products(query, per_query_head(key, heads))  # (B, Hq, L, S)
        scores = scores * high.type(default_scale(query) if scale is None else scale)
        if softcap:
            scores = high.type(softcap) * np.tanh(scores / high.type(softcap))
        scores = with_bias(scores, bias, alibi_slopes)
        visible = visibility(scores.shape, is_causal, options)  # (B, Hq, L, S)
        weights, lse = softmax(scores, visible, None if sinks is None else sinks.astype(high)[:, None])
        kept = dropout(weights, dropout_rate, seed) if dropout_rate else weights
        output = weighted_sum(kept, per_query_head(value, heads), visible)  # (B, Hq, L, Dv)
        results = [output.astype(dtype)]
        if return_weights:
            results.append(weights.astype(dtype))
    if return_lse:
        results.append(lse)
    results = [result.reshape(lead + result.shape[2:]) for result in results]
    return tuple(results) if len(results) > 1 else results[0]


attend_packed = by_sequence(attention)


def per_query_head(array: Array, heads: int) -> Array:
    """Each key/value head once for every query head that reads it."""
    return array if array.shape[1] == heads else np.repeat(array, heads // array.shape[1], axis=1)


def default_scale(query: Array) -> float:
    """1/√D keeps the scores' variance at 1, and the softmax away from where its gradient dies."""
    return 1 / math.sqrt(query.shape[-1] or 1)


def dot_products(query: Array, key: Array) -> Array:
    """How well each query agrees with each key."""
    return query @ key.swapaxes(-1, -2)


def distances(queries: int, keys: int) -> Array:
    """How far key j lies after query i: j - i, counted from the first of each."""
    return np.arange(keys) - np.arange(queries)[:, None]  # (L, S)


def with_bias(scores: Array, bias: Array | None, slopes: Array | None) -> Array:
    """Scores plus the bias, minus each head's slope times the distance."""
    if bias is not None:
        scores = scores + bias.astype(scores.dtype)
    if slopes is not None:
        far = np.abs(distances(*scores.shape[2:])).astype(scores.dtype)
        scores = scores - slopes.astype(scores.dtype)[:, None, None] * far
    return scores  # (B, Hq, L, S)


def visibility(shape: tuple[int, ...], is_causal: bool, options: dict[str, Any]) -> Array:
    """Which keys each query may attend to: the conjunction of every way to hide one."""
    left, right = options["window"] or (None, None)
    conditions = []
    if is_causal or options["window"]:
        after = distances(*shape[2:])
        if is_causal:
            conditions.append(after <= 0)
        if left is not None:
            conditions.append(after >= -left)
        if right is not None:
            conditions.append(after <= right)
    if options["mask"] is not None:
        conditions.append(options["mask"])
    if options["bias"] is not None:
        conditions.append(options["bias"] != -np.inf)
    if options["key_lengths"] is not None:
        conditions.append(np.arange(shape[3]) < options["key_lengths"].reshape(-1, 1, 1, 1))
    if options["query_segments"] is not None:
        query_id = options["query_segments"].reshape(shape[0], 1, shape[2], 1)
        conditions.append(query_id == options["key_segments"].reshape(shape[0], 1, 1, shape[3]))
    visible = np.ones(shape, bool)
    for condition in conditions:
        visible &= condition
    return visible  # (B, Hq, L, S)


def softmax(scores: Array, visible: Array, sinks: Array | None = None) -> tuple[Array, Array]:
    """Weights ≥ 0 over the visible keys, and the log of each row's denominator (-inf where it is 0).

    Subtracting the maximum changes nothing in exact arithmetic and keeps exp from overflowing. A sink joins the
    denominator only.
    """
    hidden = np.where(visible, scores, -np.inf)
    largest = hidden.max(axis=-1, initial=-np.inf)  # (…, L)
    if sinks is not None:
        largest = np.maximum(largest, sinks)
    empty = (largest == -np.inf) & ~visible.any(axis=-1)
    shift = np.where(empty, 0, largest)  # an empty row has no maximum
    terms = np.exp(hidden - shift[..., None])  # (…, L, S)
    denominator = terms.sum(axis=-1)  # (…, L)
    if sinks is not None:
        denominator = denominator + np.exp(sinks - shift)
    weights = np.divide(terms, denominator[..., None], out=np.zeros_like(terms), where=visible)
    return weights, shift + np.log(denominator)


def dropout(weights: Array, rate: float, seed: int | None) -> Array:
    """Some weights dropped, the others larger, so that the expected output is what it was."""
    kept = np.random.default_rng(seed).random(weights.shape) >= rate
    return np.where(kept, weights / weights.dtype.type(1 - rate), 0)


def weighted_sum(weights: Array, value: Array, visible: Array) -> Array:
    """Multiply each value with its weight, and sum.

    0·NaN is NaN: values that are not finite are left to the queries that see them.
    """
    odd = ~np.isfinite(value)  # (B, Hq, S, Dv)
    output: Array = weights @ np.where(odd, 0, value)
    for key in np.flatnonzero(odd.any(axis=(0, 1, 3))):
        one = np.s_[:, :, :, key : key + 1], np.s_[:, :, key : key + 1]
        seen = visible[one[0]] & odd[one[1]]  # (B, Hq, L, Dv)
        output = output + np.where(seen, weights[one[0]] * value[one[1]], 0)
    return output


def check(arguments: dict[str, Any]) -> None:
    """Raise ValueError that tells what was wanted, what came, and in which call."""
    given = {name: argument for name, argument in arguments.items() if argument is not None}
    for unmet in requirements(given):
        if isinstance(unmet, tuple):
            name, wanted = unmet
            text = {n: f"{a.dtype}{a.shape}" if isinstance(a, np.ndarray) else repr(a) for n, a in given.items()}
            call = ", ".join(f"{argument}={shown}" for argument, shown in text.items())
            raise ValueError(f"{name}: wanted {wanted}, came {text.get(name)}, in attention({call})")


def requirements(given: dict[str, Any]) -> Iterator[bool | tuple[str, str]]:
    """Whether each is met, or else (of which argument, what is wanted); each may rely on those before it."""
    window = given.get("window", (None, None))
    good = isinstance(window, tuple) and len(window) == 2 and all(isinstance(b, int | None) for b in window)
    yield good or ("window", "(left, right), each an integer or None")
    arrays = {name: argument for name, argument in given.items() if name != "window"}
    for name, array in arrays.items():
        yield isinstance(array, np.ndarray) or (name, "a NumPy array")
    query, key, value = (arrays[name] for name in ("query", "key", "value"))
    yield query.ndim in (2, 3, 4) or ("query", "2, 3 or 4 axes")
    batch, heads = query.shape[:-3], query.shape[-3:-2]  # () where the rank leaves them out
    queries, keys = query.shape[-2:-1], key.shape[-2:-1]
    for name in ("key", "value"):
        yield arrays[name].ndim == query.ndim or (name, f"{query.ndim} axes as in query")
        yield arrays[name].dtype == query.dtype or (name, "the dtype of query")
        yield arrays[name].shape[:-3] == batch or (name, f"batch {batch} as in query")
    yield key.shape[-1] == query.shape[-1] or ("key", f"width {query.shape[-1]} as in query")
    yield value.shape[:-1] == key.shape[:-1] or ("value", f"all but the width as in key, {key.shape[:-1]}")
    groups = key.shape[-3:-2] == heads or (key.shape[-3] > 0 and heads[0] % key.shape[-3] == 0)
    yield groups or ("key", f"a number of heads that divides query's {heads}")

    full = batch + heads + queries + keys
    shapes = {"alibi_slopes": heads or (1,), "sinks": heads or (1,), "key_lengths": batch}
    shapes |= {"query_segments": batch + queries, "key_segments": batch + keys}
    for name in filter(arrays.__contains__, shapes):
        yield arrays[name].shape == shapes[name] or (name, f"shape {shapes[name]}")
    for name in filter(arrays.__contains__, ("mask", "bias")):
        shape = (1,) * (query.ndim - arrays[name].ndim) + arrays[name].shape
        good = len(shape) == len(full) and all(a in (1, b) for a, b in zip(shape, full, strict=True))
        yield good or (name, f"what broadcasts to {full}")
    for name in filter(arrays.__contains__, ("query", "bias", "alibi_slopes", "sinks")):
        yield arrays[name].dtype.name in DTYPES or (name, f"one of {', '.join(DTYPES)}")
    for name in filter(arrays.__contains__, ("key_lengths", "query_segments", "key_segments")):
        yield arrays[name].dtype.kind in "iu" or (name, "integers")
    yield "mask" not in arrays or arrays["mask"].dtype == bool or ("mask", "bool")
    yield "key_lengths" not in arrays or bool((arrays["key_lengths"] >= 0).all()) or ("key_lengths", "0 or more")
    for name, other in (("query_segments", "key_segments"), ("key_segments", "query_segments")):
        yield other not in arrays or name in arrays or (name, f"one, as there are {other}")
