"""The attention core of a layer: any backend of the hub, made to take what a layer gives it.

A layer calls it with query (B, heads, L, D), key (B, kv_heads, S, D), value (B, kv_heads, S, Dv), a mask where True may
attend, is_causal and scale. What a backend does otherwise, or does without, it says in CONVENTIONS and LACKS.
"""

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from array_api_compat import array_namespace, device

import attnspec.impls
from attnspec.impls.layers.checks import want
from attnspec.impls.layers.library import library
from attnspec.impls.layers.masks import causal_mask
from attnspec.impls.layers.parameters import Array

Attention = Callable[..., Array]

DEFAULTS = {"numpy": "numpy_naive", "torch": "torch_sdpa", "jax": "jax_naive"}
"""The backend for each array library, unless a layer is given one."""


def default_core(query: Array, key: Array, value: Array, **options: Any) -> Array:
    """The default backend of the array library that ``query`` is of; the definition for any other library."""
    name = library(query)
    if not name:
        return definition(query, key, value, **options)
    return core(importlib.import_module(f"attnspec.impls.{DEFAULTS[name]}"))(query, key, value, **options)


@cache
def core(backend: ModuleType | str) -> Attention:
    """The attention of a backend's module, or of the one in ``attnspec.impls`` with that name, as a layer calls it.

    ValueError for a name that is none of these, and for a module without a function ``attention``.
    """
    if isinstance(backend, str):
        known = [info.name for info in pkgutil.iter_modules(attnspec.impls.__path__) if not info.ispkg]
        want(backend in known, "core", f"a module or one of {', '.join(known)}", repr(backend))
        backend = importlib.import_module(f"attnspec.impls.{backend}")
    want(callable(getattr(backend, "attention", None)), "core", "a module with a function `attention`", repr(backend))
    constants = vars(backend)
    lacks = frozenset(frozenset(lack.split("+")) for lack in constants.get("LACKS", ()))
    return Core(constants["attention"], lacks, tuple(sorted(constants.get("CONVENTIONS", {}).items())))


@dataclass(frozen=True)
class Core:
    """A backend's function behind the signature that layers call."""

    function: Attention
    lacks: frozenset[frozenset[str]]
    conventions: tuple[tuple[str, Any], ...]

    def __call__(
        self,
        query: Array,
        key: Array,
        value: Array,
        *,
        mask: Array | None = None,
        bias: Array | None = None,
        is_causal: bool = False,
        scale: float | None = None,
    ) -> Array:
        """softmax(scale·QKᵀ + bias)·V: (B, heads, L, Dv), scale being 1/√D unless given."""
        chosen, width = dict(self.conventions), value.shape[-1]
        if is_causal and (query.shape[2] != key.shape[2] or not self._takes("is_causal", mask, bias)):
            causal = causal_mask(query.shape[2], query, offset=key.shape[2] - query.shape[2])
            mask, is_causal = causal if mask is None else causal & mask, False
        if self._lacking("gqa") or chosen.get("gqa_map") == "tiled":
            key, value = (per_query_head(x, query.shape[1]) for x in (key, value))
        if self._lacking("value_dim") and width != query.shape[3]:
            scale = 1 / math.sqrt(query.shape[3] or 1) if scale is None else scale
            widest = max(width, query.shape[3])
            query, key, value = (widened(x, widest) for x in (query, key, value))
        options = self._options(mask, bias, is_causal, scale)
        if chosen.get("layout") == "BLHD":
            query, key, value = (heads_last(x) for x in (query, key, value))
            return heads_last(self.function(query, key, value, **options))[..., :width]
        return self.function(query, key, value, **options)[..., :width]

    def _takes(self, option: str, mask: Array | None, bias: Array | None = None) -> bool:
        """Whether the function has the option, and takes it along with mask and bias where they are given."""
        beside = [name for name, given in (("mask", mask), ("bias", bias)) if given is not None]
        together = not any(self._lacking(option, name) for name in beside)
        return option in inspect.signature(self.function).parameters and together

    def _lacking(self, *features: str) -> bool:
        return frozenset(features) in self.lacks

    def _options(self, mask: Array | None, bias: Array | None, is_causal: bool, scale: float | None) -> dict[str, Any]:
        """What is given of them, as the function takes it."""
        options: dict[str, Any] = {"is_causal": True} if is_causal else {}
        if scale is not None:
            options["scale"] = scale
        if bias is not None:
            if mask is not None and not self._takes("bias", mask):
                bias, mask = array_namespace(bias).where(mask, bias, -math.inf), None
            options["bias"] = four_axes(bias)
        if mask is not None:
            mask = four_axes(mask)
            options["mask"] = ~mask if dict(self.conventions).get("mask") == "block" else mask
        return options


def definition(
    query: Array,
    key: Array,
    value: Array,
    *,
    mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Array:
    """Attention over the array API standard alone, for an array library without a backend.

    Vaswani et al. (2017), equation 1. A query that sees nothing gives NaN.
    """
    xp = array_namespace(query)
    key, value = (per_query_head(x, query.shape[1]) for x in (key, value))
    scores = query @ xp.matrix_transpose(key) * (1 / math.sqrt(query.shape[-1] or 1) if scale is None else scale)
    if is_causal:
        causal = causal_mask(query.shape[2], query, offset=key.shape[2] - query.shape[2])
        mask = causal if mask is None else causal & mask
    if mask is not None:
        scores = xp.where(mask, scores, -math.inf)  # (B, heads, L, S)
    if key.shape[2] == 0:  # a sum of nothing
        return scores @ value
    terms = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    return terms / xp.sum(terms, axis=-1, keepdims=True) @ value  # (B, heads, L, Dv)


def four_axes(x: Array) -> Array:
    """``x`` with axes of size 1 before its own."""
    return x if x.ndim == 4 else x[(None,) * (4 - x.ndim)]


def per_query_head(x: Array, heads: int) -> Array:
    """``x`` (B, kv_heads, S, D), each head once for every query head that reads it: (B, heads, S, D)."""
    group = heads // x.shape[1]
    return x if group == 1 else array_namespace(x).repeat(x, group, axis=1)


def widened(x: Array, width: int) -> Array:
    """``x`` with zeros after its last axis, up to ``width``: they change no dot product."""
    xp = array_namespace(x)
    zeros = xp.zeros((*x.shape[:-1], width - x.shape[-1]), dtype=x.dtype, device=device(x))
    return xp.concat([x, zeros], axis=-1)


def heads_last(x: Array) -> Array:
    """(B, heads, L, D) to (B, L, heads, D), and back."""
    return array_namespace(x).permute_dims(x, (0, 2, 1, 3))
