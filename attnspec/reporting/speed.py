"""What the page shows of one run of benchmarks, as plain values and figures."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attnspec.benchmarks.growth import growths
from attnspec.benchmarks.ratios import by_workload, ratios
from attnspec.benchmarks.run import Run, Suite, Timing
from attnspec.reporting.drawing import Figure, Styles
from attnspec.reporting.frontier import places

Item = dict[str, Any]


def speed(run: Run, number: int) -> Item:
    """All that the page says of a run; ``number`` tells its figures from those of another run."""
    timings, styles = run.timings, Styles([timing.backend for timing in run.timings])
    return {
        "date": run.date[:16].replace("T", " "),
        "machine": machine(run),
        "packages": {package: v for timing in timings for package, v in timing.versions.items()},
        "backends": styles.backends,
        "workloads": workloads(timings),
        "frontiers": list(_figures(f"frontier-{number}", timings, styles, _frontier)),
        "growths": list(_growths(f"growth-{number}", timings, styles)),
        "peaks": list(_figures(f"peak-{number}", timings, styles, _peak)),
        "targets": run.targets,
        "suite": run.suite,
        "kills": kills(run.suite),
    }


def kills(suite: Suite) -> list[tuple[str, float | None]]:
    """The mutants with the seconds until each was killed: those that survived, then the slowest first."""
    return sorted(suite.kills.items(), key=lambda kill: (kill[1] is not None, -(kill[1] or 0)))


def workloads(timings: Sequence[Timing]) -> list[Item]:
    """Each workload with its timings and ratios by backend: those ranked, the fastest first, then the others."""
    return [
        {"name": workload, "rows": {t.backend: {"timing": t, "ratio": found.get(t.backend)} for t in some}}
        for workload, some in by_workload(timings).items()
        for found in [ratios(some)]
    ]


def machine(run: Run) -> dict[str, str]:
    """What was measured on: processor, system, Python, and the peaks of the same run."""
    about, cpu = run.machine, run.machine["cpu"]
    facts = {
        "processor": " × ".join(str(cpu[key]) for key in ("count", "brand_raw") if key in cpu),
        "system": " ".join(str(about[key]) for key in ("system", "release", "machine") if key in about),
        "Python": str(about.get("python_version", "")),
        "matrix-product peak": ", ".join(f"{dtype} {peak:.0f} GFLOP/s" for dtype, peak in run.peaks.items()),
        "memory bandwidth": f"{run.bandwidth:.1f} GB/s" if run.bandwidth else "",
    }
    return {name: fact for name, fact in facts.items() if fact}


Draw = Callable[[str, str, list[Timing], Styles], Item | None]


def _figures(name: str, timings: Sequence[Timing], styles: Styles, draw: Draw) -> Iterator[Item]:
    """One figure for each dtype and direction, in which there is something to draw."""
    ranked = [timing for timing in timings if timing.median is not None]
    for what, dtype in dict.fromkeys((timing.what, timing.dtype) for timing in ranked):
        some = [timing for timing in ranked if (timing.what, timing.dtype) == (what, dtype)]
        file = re.sub(r"\W+", "-", f"{name}-{what}-{dtype}")  # a dtype out of a file may say anything, such as ../
        drawn = draw(file, f"{what}, {dtype}", some, styles)
        if drawn is not None:
            yield drawn


def _frontier(name: str, title: str, timings: list[Timing], styles: Styles) -> Item | None:
    from attnspec.reporting.figures import frontier

    found, count = places(timings), len(by_workload(timings))
    return {"figure": frontier(name, title, found, styles), "places": found, "count": count} if found else None


def _peak(name: str, title: str, timings: list[Timing], styles: Styles) -> Item | None:
    from attnspec.reporting.figures import peak

    some = [timing for timing in timings if "peak_share" in timing.figures]
    return {"figure": peak(name, title, some, styles)} if some else None


def _growths(name: str, timings: Sequence[Timing], styles: Styles) -> Iterator[Item]:
    from attnspec.reporting.figures import growth

    for number, (family, found) in enumerate(growths(timings).items()):
        yield {"figure": growth(f"{name}-{number}", family, found, styles), "growths": found}


def figures(item: Item) -> list[Figure]:
    """All of the run, in the page's order."""
    return [part["figure"] for name in ("frontiers", "growths", "peaks") for part in item[name]]
