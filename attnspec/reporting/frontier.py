"""Accuracy against speed, over all workloads that are given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean

from attnspec.benchmarks.ratios import by_workload, ratios
from attnspec.benchmarks.run import Timing


@dataclass(frozen=True)
class Place:
    """Where a backend stands among those timed: the geometric mean of its ratios, its largest error ÷ bound."""

    backend: str
    ratio: float
    error: float
    workloads: int
    optimal: bool = False
    """Whether no other backend with as many workloads is both as fast and as accurate."""


def places(timings: Sequence[Timing]) -> list[Place]:
    """A place for each backend, the fastest first. One that was not ranked on every workload is on no frontier."""
    ranked = [timing for timing in timings if timing.median is not None]
    every = {workload: ratios(some) for workload, some in by_workload(ranked).items()}
    found = []
    for backend in dict.fromkeys(timing.backend for timing in ranked):
        some = {t.workload: t for t in ranked if t.backend == backend and "error_over_bound" in t.figures}
        if some:
            ratio = geometric_mean(every[workload][backend] for workload in some)
            error = max(timing.figures["error_over_bound"] for timing in some.values())
            found.append(Place(backend, ratio, error, len(some)))
    whole = [place for place in found if place.workloads == len(every)]
    marked = (replace(place, optimal=place in whole and not _beaten(place, whole)) for place in found)
    return sorted(marked, key=lambda place: place.ratio)


def _beaten(place: Place, others: Iterable[Place]) -> bool:
    return any(
        other.ratio <= place.ratio
        and other.error <= place.error
        and (other.ratio, other.error) != (place.ratio, place.error)
        for other in others
    )
