"""What the layers are tried on: sizes, a dtype and a seed; numbers follow from these."""

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnspec.specs.problem import Array


@dataclass(frozen=True)
class Case:
    """Sizes that differ from each other, as far as they may, so that none can stand for another."""

    dtype: str
    batch: int = 2
    length: int = 5
    source: int = 7
    width: int = 12
    heads: int = 3
    hidden: int = 10
    activation: str = "relu"
    norm_first: bool = False
    epsilon: float = 1e-3
    """Other than the default of layers, so that it counts where it is passed on."""
    padding: int = 0
    """The source id that is padding."""
    seed: int = 0

    def __str__(self) -> str:
        norm = "pre-norm" if self.norm_first else "post-norm"
        sizes = f"B {self.batch}, n {self.length}, S {self.source}, width {self.width}, {self.heads} heads"
        return f"{self.dtype}, {sizes}, {norm}, seed {self.seed}"

    def rng(self, *what: Any) -> np.random.Generator:
        """Random numbers for one purpose, the same in every process."""
        return np.random.default_rng([self.seed, zlib.crc32(repr(what).encode())])

    def tokens(self, what: str = "x", length: int | None = None, width: int | None = None) -> Array:
        """(B, length, width) in the case's dtype, standard normal."""
        shape = (self.batch, length or self.length, width or self.width)
        return self.rng(what).standard_normal(shape).astype(self.dtype)

    def ids(self, what: str, count: int, length: int) -> Array:
        """(B, length) token ids from 0 to below ``count``, none of them padding."""
        return (self.padding + self.rng(what).integers(1, count, (self.batch, length))) % count

    def mask(self, heads: int, queries: int, keys: int) -> Array:
        """(B, heads, queries, keys): other keys for each sequence, head and query; query i sees key i."""
        seen = self.rng("mask", heads, queries, keys).random((self.batch, heads, queries, keys)) < 0.5
        return seen | np.eye(queries, keys, dtype=bool)

    def parameters(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
        """Numbers for each name: weights that keep the variance, biases, and scales about 1; none is trivial."""
        return {name: self._parameter(name, tuple(shape)).astype(self.dtype) for name, shape in shapes.items()}

    def _parameter(self, name: str, shape: tuple[int, ...]) -> Array:
        rng = self.rng(name, shape)
        if len(shape) > 1:
            return rng.standard_normal(shape) / math.sqrt(math.prod(shape[1:]))
        return rng.uniform(0.5, 1.5, shape) if name.endswith("weight") else 0.3 * rng.standard_normal(shape)


def cases(seed: int = 0) -> tuple[Case, ...]:
    """Post-norm in float64 and float32, pre-norm in float64: what any layer is tried on."""
    plain = Case("float64", seed=seed)
    return plain, Case("float32", seed=seed), Case("float64", norm_first=True, activation="gelu", padding=3, seed=seed)
