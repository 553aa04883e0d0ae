"""How time and memory grow with the number of keys: a power of n, fitted on logarithms."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from attnspec.reporting.timings import Timing


@dataclass(frozen=True)
class Fit:
    """``points`` (n, value), and the exponent and factor of factor·n**exponent; None for fewer than two sizes."""

    points: tuple[tuple[int, float], ...]
    exponent: float | None
    factor: float | None


@dataclass(frozen=True)
class Growth:
    """One backend on workloads that differ in n alone; time in seconds, memory in bytes."""

    backend: str
    time: Fit
    memory: Fit


def growths(timings: Iterable[Timing]) -> dict[str, list[Growth]]:
    """By kind of workload, in words, each backend that was timed at two sizes or more."""
    kinds: dict[str, dict[str, list[Timing]]] = {}
    for timing in (t for t in timings if t.median is not None):
        kinds.setdefault(kind(timing), {}).setdefault(timing.backend, []).append(timing)
    found = {
        name: [Growth(backend, *_fits(some)) for backend, some in backends.items() if _sizes(some) >= 2]
        for name, backends in kinds.items()
    }
    return {name: some for name, some in found.items() if some}


def kind(timing: Timing) -> str:
    """What stays the same as n grows: "forward, float32, causal, L = S = n, B 1, …"."""
    shape = timing.shape
    lengths = "L = S = n" if shape["L"] == shape["S"] else f"L {shape['L']}, S = n"
    rest = ", ".join(f"{name} {shape[name]}" for name in ("B", "Hq", "Hkv", "Dk", "Dv"))
    return ", ".join([timing.what, timing.dtype, *timing.options, lengths, rest])


def fit(points: Sequence[tuple[int, float]]) -> Fit:
    """Least squares on logarithms; values of 0 or less have none and are left out."""
    some = tuple(sorted((n, value) for n, value in points if n > 0 and value > 0))
    if len({n for n, _ in some}) < 2:
        return Fit(some, None, None)
    n, values = np.log(np.array(some)).T
    exponent, logarithm = np.polyfit(n, values, 1)
    return Fit(some, float(exponent), float(np.exp(logarithm)))


def _fits(timings: Sequence[Timing]) -> tuple[Fit, Fit]:
    time = fit([(t.shape["S"], t.median) for t in timings if t.median is not None])
    memory = fit([(t.shape["S"], t.figures["peak_memory"]) for t in timings if "peak_memory" in t.figures])
    return time, memory


def _sizes(timings: Iterable[Timing]) -> int:
    return len({t.shape["S"] for t in timings})
