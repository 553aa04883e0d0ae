"""How time and memory grow with the number of keys: a power, by least squares on logarithms of both."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from attnspec.benchmarks.run import Timing

SIZES = 3
"""An exponent takes so many sizes at least."""

NOISE = 2**20
"""Bytes below which a process's memory says nothing."""


@dataclass(frozen=True)
class Fit:
    """``points`` (n, value), and factor·n**exponent through them; None for fewer than three sizes."""

    points: tuple[tuple[int, float], ...]
    exponent: float | None = None
    factor: float | None = None


@dataclass(frozen=True)
class Growth:
    """One backend on workloads that differ in n alone: seconds, and bytes beyond inputs and outputs."""

    backend: str
    time: Fit
    memory: Fit


def growths(timings: Iterable[Timing]) -> dict[str, list[Growth]]:
    """By family of workloads, each backend that was timed over three numbers of keys or more."""
    cases: dict[tuple[str, str], list[Timing]] = {}
    for timing in timings:
        cases.setdefault((timing.family, timing.backend), []).append(timing)
    found: dict[str, list[Growth]] = {}
    for (family, backend), some in cases.items():
        time = fit((t.keys, t.median) for t in some if t.median is not None)
        memory = fit(((t.keys, t.figures.get("peak_memory", 0)) for t in some if t.median is not None), NOISE)
        if time.exponent is not None:
            found.setdefault(family, []).append(Growth(backend, time, memory))
    return found


def fit(points: Iterable[tuple[int, float]], least: float = 0) -> Fit:
    """Through the points whose values are above ``least``, which 0 never is: it has no logarithm."""
    some = tuple(sorted((n, value) for n, value in points if least < value < math.inf))
    if len({n for n, _ in some}) < SIZES:
        return Fit(some)
    n, values = np.log(np.array(some, np.float64)).T
    exponent, logarithm = np.polyfit(n, values, 1)
    return Fit(some, float(exponent), float(np.exp(logarithm)))
