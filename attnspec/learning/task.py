"""A translation that needs the order: digits to words, backwards. 3 1 4 is "four one three".

What is held out is told by the digits themselves, so that no sequence of it can be among those trained on.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PADDING, BEGIN, END, FIRST = 0, 1, 2, 3
"""Ids: those without meaning, and that of the digit 0 and its word."""

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

IDS = FIRST + len(WORDS)

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Sources (B, longest) and targets (B, longest + 2), [begin] word … word [end], both padded with 0."""

    sources: Ids
    targets: Ids


@dataclass(frozen=True)
class Task:
    """Sequences of ``shortest`` to ``longest`` digits, all different in a sequence: it is only their order that says.

    Ten digits at most. ``batch`` draws those to train on, or those held out, a tenth. ValueError for other lengths.
    """

    shortest: int = 3
    longest: int = 7

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest <= len(WORDS):
            came = f"{self.shortest} to {self.longest}"
            raise ValueError(f"Task: wanted 1 to {len(WORDS)} digits, the shortest first, came {came}")

    def batch(self, rng: np.random.Generator, size: int, held_out: bool) -> Batch:
        """``size`` sequences and their translations."""
        sources = np.zeros((0, self.longest), np.int64)
        while len(sources) < size:
            drawn = self._draw(rng, 2 * size + 100)
            sources = np.concatenate([sources, drawn[is_held_out(drawn) == held_out]])
        return self.translated(sources[:size])

    def _draw(self, rng: np.random.Generator, size: int) -> Ids:
        digits = rng.random((size, len(WORDS))).argsort(1)[:, : self.longest]
        lengths = rng.integers(self.shortest, self.longest + 1, (size, 1))
        return np.where(np.arange(self.longest) < lengths, digits + FIRST, PADDING)

    def translated(self, sources: Ids) -> Batch:
        """The sources with what they mean."""
        targets = np.zeros((len(sources), self.longest + 2), np.int64)
        targets[:, 0] = BEGIN
        for target, source in zip(targets, sources, strict=True):
            digits = source[source != PADDING]
            target[1 : len(digits) + 1] = digits[::-1]
            target[len(digits) + 1] = END
        return Batch(sources, targets)


def is_held_out(sources: Ids) -> NDArray[np.bool_]:
    """(B,): whether Σ (i + 1)·id_i is 0 modulo 10; that depends on the order of the digits."""
    return np.asarray((sources * np.arange(1, sources.shape[1] + 1)).sum(1) % 10 == 0)


def spelled(ids: Ids) -> str:
    """The words of a target, for people."""
    return " ".join(WORDS[i - FIRST] for i in ids.tolist() if i >= FIRST)
