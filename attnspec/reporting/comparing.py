"""Backends side by side: ratios within a workload, and accuracy against speed over all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from attnspec.reporting.timings import Timing


@dataclass(frozen=True)
class Place:
    """Where a backend stands among those timed: the geometric mean of its ratios, its largest error ÷ bound."""

    backend: str
    ratio: float
    error: float
    workloads: int
    optimal: bool = False
    """Whether no other backend with as many workloads is both as fast and as accurate."""


def ratios(timings: Iterable[Timing]) -> dict[tuple[str, str], float]:
    """The median ÷ the fastest one of the workload, by workload and backend; of ranked timings alone."""
    ranked = [(t.group, t.backend, t.median) for t in timings if t.median is not None]
    fastest: dict[str, float] = {}
    for group, _, median in ranked:
        fastest[group] = min(median, fastest.get(group, median))
    return {(group, backend): median / fastest[group] for group, backend, median in ranked}


def places(timings: Sequence[Timing]) -> list[Place]:
    """A place for each backend, the fastest first. One that was not ranked on every workload is on no frontier."""
    by_workload, every = ratios(timings), {t.group for t in timings if t.median is not None}
    found = []
    for backend in dict.fromkeys(t.backend for t in timings):
        some = [t for t in timings if t.backend == backend and t.median and "error_over_bound" in t.figures]
        if some:
            ratio = geometric_mean(by_workload[t.group, backend] for t in some)
            error = max(t.figures["error_over_bound"] for t in some)
            found.append(Place(backend, ratio, error, len({t.group for t in some})))
    whole = [place for place in found if place.workloads == len(every)]
    marked = (Place(p.backend, p.ratio, p.error, p.workloads, p in whole and not _beaten(p, whole)) for p in found)
    return sorted(marked, key=lambda place: place.ratio)


def _beaten(place: Place, others: Iterable[Place]) -> bool:
    return any(
        other.ratio <= place.ratio
        and other.error <= place.error
        and (other.ratio, other.error) != (place.ratio, place.error)
        for other in others
    )
