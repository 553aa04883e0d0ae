"""Backends side by side on a workload: how many times as long each takes."""

from collections.abc import Iterable

from attnspec.benchmarks.run import Timing


def by_workload(timings: Iterable[Timing]) -> dict[str, list[Timing]]:
    """The timings of each workload: those that are ranked first, the fastest of all first."""
    found: dict[str, list[Timing]] = {}
    for timing in timings:
        found.setdefault(timing.workload, []).append(timing)
    return {workload: sorted(some, key=lambda t: (t.median is None, t.median or 0)) for workload, some in found.items()}


def ratios(timings: Iterable[Timing], baseline: str | None = None) -> dict[str, float]:
    """The median ÷ the baseline's, or ÷ the least, by backend, of a workload; none if the baseline is not ranked."""
    medians = {timing.backend: timing.median for timing in timings if timing.median is not None}
    base = min(medians.values(), default=None) if baseline is None else medians.get(baseline)
    return {backend: median / base for backend, median in medians.items()} if base else {}
