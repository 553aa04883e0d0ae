"""Named settings of every option: what a drawn problem may ask for beside its shape.

A setting takes the shape (B, Hq, Hkv, L, S), a generator and the dtype, and gives the keywords to set. The first
setting of an option is the simplest; a failing problem is simplified towards it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState

from attnspec.specs.problem import Array, largest_number


class Axes(NamedTuple):
    """The axes that options range over."""

    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int


Setting = Callable[[Axes, RandomState, "np.dtype[Any]"], dict[str, Any]]


def _random_mask(axes: Axes, rng: RandomState, shape: tuple[int, ...]) -> Array:
    """Boolean, two thirds True; every row keeps one key, not always the same one."""
    mask = rng.random_sample(shape) < 2 / 3
    if axes.keys:
        np.put_along_axis(mask, rng.randint(0, axes.keys, (*shape[:-1], 1)), True, axis=-1)
    return mask


def full_mask(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """A mask of its own for every sample, head and query."""
    return {"mask": _random_mask(axes, rng, (axes.batch, axes.heads, axes.queries, axes.keys))}


def shared_mask(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """One mask (L, S) for all samples and heads."""
    return {"mask": _random_mask(axes, rng, (axes.queries, axes.keys))}


def key_mask(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """A mask (B, 1, 1, S) that hides keys from every query, as padding does."""
    return {"mask": _random_mask(axes, rng, (axes.batch, 1, 1, axes.keys))}


def head_mask(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """A mask (Hq, L, S): three axes, the same for every sample."""
    return {"mask": _random_mask(axes, rng, (axes.heads, axes.queries, axes.keys))}


def holed_mask(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """A mask (B, 1, L, S) in which some rows hide every key."""
    mask = _random_mask(axes, rng, (axes.batch, 1, axes.queries, axes.keys))
    mask[:, :, ::2] = False
    return {"mask": mask}


def holed_head_mask(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """A mask (B, Hq, L, S) in which some rows of the first head hide every key, and none of the others'."""
    mask = _random_mask(axes, rng, (axes.batch, axes.heads, axes.queries, axes.keys))
    mask[:, :1, ::2] = False
    return {"mask": mask}


def full_bias(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """A Gaussian bias for every sample, head, query and key."""
    return {"bias": rng.standard_normal((axes.batch, axes.heads, axes.queries, axes.keys)).astype(dtype)}


def head_bias(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """A Gaussian bias (Hq, 1, S), the same for every sample and query."""
    return {"bias": rng.standard_normal((axes.heads, 1, axes.keys)).astype(dtype)}


def key_bias(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """A Gaussian bias (B, 1, 1, S), the same for every head and query."""
    return {"bias": rng.standard_normal((axes.batch, 1, 1, axes.keys)).astype(dtype)}


def foreign_bias(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """A Gaussian bias (1, 1, L, S) in float32, or float64 if the inputs are in float32."""
    return {"bias": full_bias(axes, rng, np.float64 if dtype == np.float32 else np.float32)["bias"][:1, :1]}


def hiding_bias(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """A Gaussian bias (L, S) with some -inf, never a whole row."""
    bias = rng.standard_normal((axes.queries, axes.keys))
    bias[~_random_mask(axes, rng, bias.shape)] = -np.inf
    return {"bias": bias.astype(dtype)}


def lowest_bias(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """A Gaussian bias (L, S) with the lowest finite number at some keys, and, of several rows, in all of the last."""
    bias = rng.standard_normal((axes.queries, axes.keys)).astype(dtype)
    hidden = ~_random_mask(axes, rng, bias.shape)
    hidden[1:][-1:] = True
    bias[hidden] = -largest_number(str(np.dtype(dtype)))
    return {"bias": bias}


def alibi(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """Slopes 2^-1, 2^-2, …: one for each head."""
    return {"alibi_slopes": (0.5 ** np.arange(1, axes.heads + 1)).astype(dtype)}


def gaussian_sinks(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """A Gaussian sink logit for each head."""
    return {"sinks": rng.standard_normal(axes.heads).astype(dtype)}


def far_sinks(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """Sinks that take all weight or none, by turns: their exponentials alone exceed single precision."""
    return {"sinks": np.where(np.arange(axes.heads) % 2 == rng.randint(2), 300, -300).astype(dtype)}


def ragged_lengths(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """Unequal lengths, each at least 1 where there are keys."""
    return {"key_lengths": rng.randint(min(1, axes.keys), axes.keys + 1, axes.batch).astype(np.int64)}


def excess_lengths(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """Lengths up to two past S, the last above S; of several one is 0."""
    lengths = rng.randint(0, axes.keys + 3, axes.batch).astype(np.int32)
    lengths[:1], lengths[-1:] = 0, axes.keys + 2
    return {"key_lengths": lengths}


def packed_segments(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """Ids 0, 1, 2… in runs, over queries and keys; some query ids have no key."""
    query = np.sort(rng.randint(0, 3, (axes.batch, axes.queries)), axis=-1)
    key = np.sort(rng.randint(0, 3, (axes.batch, axes.keys)), axis=-1)
    return {"query_segments": query.astype(np.int64), "key_segments": key.astype(np.int64)}


def scattered_segments(axes: Axes, rng: RandomState, dtype: Any) -> dict[str, Any]:
    """Ids -1, 0 and 1 in any order, as int32."""
    query, key = (rng.randint(-1, 2, (axes.batch, n)).astype(np.int32) for n in (axes.queries, axes.keys))
    return {"query_segments": query, "key_segments": key}


def plain(**keywords: Any) -> Setting:
    """A setting that sets the same Python values whatever the shape."""
    return lambda axes, rng, dtype: keywords


SETTINGS: dict[str, dict[str, Setting]] = {
    "mask": {
        "shared": shared_mask,
        "full": full_mask,
        "keys": key_mask,
        "heads": head_mask,
        "holed": holed_mask,
        "holed-head": holed_head_mask,
    },
    "bias": {
        "full": full_bias,
        "head": head_bias,
        "keys": key_bias,
        "hiding": hiding_bias,
        "lowest": lowest_bias,
        "foreign": foreign_bias,
    },
    "is_causal": {"on": plain(is_causal=True)},
    "scale": {"half": plain(scale=0.5), "negative": plain(scale=-0.3), "zero": plain(scale=0.0)},
    "softcap": {"two": plain(softcap=2.0), "off": plain(softcap=0.0)},
    "window": {
        "both": plain(window=(1, 1)),
        "left": plain(window=(2, 0)),
        "open-right": plain(window=(1, None)),
        "open-left": plain(window=(None, 1)),
        "behind": plain(window=(3, -1)),
        "ahead": plain(window=(-1, 2)),
    },
    "alibi_slopes": {"powers": alibi},
    "sinks": {"gaussian": gaussian_sinks, "far": far_sinks},
    "key_lengths": {"ragged": ragged_lengths, "excess": excess_lengths},
    "segments": {"packed": packed_segments, "scattered": scattered_segments},
    "dropout_rate": {"zero": plain(dropout_rate=0.0)},
    "return_weights": {"on": plain(return_weights=True)},
    "return_lse": {"on": plain(return_lse=True)},
}
"""option → setting name → builder; "segments" stands for query_segments and key_segments together."""


VALUE_SETTINGS = {
    "nonpositive_scale": ("scale", "negative", "zero"),
    "negative_window": ("window", "behind"),
    "bias_dtype": ("bias", "foreign"),
    "lowest_bias": ("bias", "lowest"),
    "key_mask": ("mask", "keys"),
    "key_bias": ("bias", "keys"),
}
"""feature of an option's value → the option, and the settings that ask for it."""


def keywords(option: str) -> frozenset[str]:
    """The keywords that an option of SETTINGS sets."""
    return frozenset({"query_segments", "key_segments"} if option == "segments" else {option})


RANKED = frozenset({"key_lengths", "query_segments", "key_segments"})
"""Options with a batch axis of their own, which ranks 3 and 2 leave out."""


def ranked(name: str, value: Any, rank: int) -> Any:
    """The value as a problem of ``rank`` takes it: the axes that the rank lacks are left out."""
    if name in RANKED and rank < 4:
        return np.array(value[0])
    if name in ("mask", "bias") and value.ndim > rank:
        return value.reshape(value.shape[value.ndim - rank :])
    return value
