"""A run of benchmarks out of its result file, as typed values. Only what is in the same run is ever compared."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnspec.benchmarks.contest import OK
from attnspec.json_file import check, numbers, opened
from attnspec.specs.contract import shown

RUN = {"machine_info": dict, "datetime": str, "benchmarks": list, "unranked": list}
MACHINE = {"cpu": dict, "peak_gflops": dict}
WORDS = ("backend", "workload", "family", "status", "reason", "what", "dtype")
INFO = {**dict.fromkeys(WORDS, str), "shape": dict, "kernels": list, "versions": dict}
MUTANT = {"mutant": str, "killed": bool}
TARGET = {"what": str, "limit": (int, float), "at_least": bool, "values": dict}
"""What a file holds, with the types."""

FIGURES = ("gflops", "peak_share", "bandwidth_share", "compile_seconds", "peak_memory", "error_over_bound")
"""Measured beside the time, as far as that was possible: GFLOP/s, shares of 1, seconds, bytes, a ratio."""

SUITE = ("problems_a_second", "compile_share")
"""Of the suite's own speed."""


@dataclass(frozen=True)
class Timing:
    """One backend on one workload. Without a median it is not ranked: ``status`` and ``reason`` say why."""

    backend: str
    workload: str
    family: str
    """Of workloads that differ in the numbers of queries and keys alone."""
    status: str
    reason: str
    what: str
    dtype: str
    keys: int
    kernels: tuple[str, ...]
    versions: Mapping[str, str]
    compiled: bool
    figures: Mapping[str, float]
    median: float | None
    """Seconds of a call."""
    iqr: float | None
    """Seconds between the quartiles."""


@dataclass(frozen=True)
class Suite:
    """How fast the suite itself is, as far as that was timed."""

    problems_a_second: float | None
    compile_share: float | None
    kills: Mapping[str, float | None]
    """Seconds until each mutant was killed; None for one that survived."""


Values = Mapping[str, float | None]


@dataclass(frozen=True)
class Target:
    """A figure to reach, at most or at least, and what was measured of it: None where something was not ranked."""

    what: str
    limit: float
    values: Values
    at_least: bool = False

    @property
    def met(self) -> bool | None:
        """Whether all that was measured reaches it; None if nothing was."""
        came = [value for value in self.values.values() if value is not None]
        reached = (value >= self.limit if self.at_least else value <= self.limit for value in came)
        return all(reached) if came else None

    @property
    def answer(self) -> str:
        """The same in words."""
        return {True: "yes", False: "no", None: "not measured"}[self.met]

    def as_dict(self) -> dict[str, Any]:
        """For the result file."""
        head = {"what": self.what, "limit": self.limit, "at_least": self.at_least}
        return {**head, "values": dict(self.values), "met": self.met}


@dataclass(frozen=True)
class Run:
    """All that is in a file."""

    date: str
    machine: Mapping[str, Any]
    peaks: Mapping[str, float]
    """GFLOP/s of a matrix product, by dtype."""
    bandwidth: float | None
    """GB/s."""
    timings: tuple[Timing, ...]
    suite: Suite
    targets: tuple[Target, ...] = ()


def read(file: Path) -> Run:
    """The run in a file. ValueError in a line if it is damaged, or none of attnspec's benchmarks."""
    with opened(file, "attnspec bench") as document:
        return run_of(document)


def run_of(document: Mapping[str, Any]) -> Run:
    """The run as it stands in a file. ValueError as ``read``."""
    check("benchmarks", document, RUN)
    machine = {"cpu": {}, **document["machine_info"]}
    check("machine_info", machine, MACHINE)
    for case in (*document["benchmarks"], *document["unranked"]):
        check("a benchmark", case, {"name": str, "extra_info": dict})
    own = [case for case in document["benchmarks"] if _is_suite(case)]
    ranked = (_timing(case, ranked=True) for case in document["benchmarks"] if not _is_suite(case))
    unranked = (_timing(case, ranked=False) for case in document["unranked"])
    peaks = numbers("peak_gflops", machine["peak_gflops"], machine["peak_gflops"])
    bandwidth = numbers("machine_info", machine, ["bandwidth_gbs"]).get("bandwidth_gbs")
    timings = _once((*ranked, *unranked))
    return Run(document["datetime"], machine, peaks, bandwidth, timings, _suite(own), _targets(document))


def _once(timings: tuple[Timing, ...]) -> tuple[Timing, ...]:
    """The timings. ValueError for a backend that is there twice on a workload: ratios go by names."""
    for (backend, workload), count in Counter((t.backend, t.workload) for t in timings).items():
        if count > 1:
            raise ValueError(f"wanted each backend once on a workload, came {backend!r} {count} times on {workload!r}")
    return timings


def _timing(case: Mapping[str, Any], ranked: bool) -> Timing:
    name, info = case["name"], {"kernels": [], "versions": {}, **case["extra_info"]}  # not there before it has loaded
    check(f"the extra_info of {name}", info, INFO)
    median, iqr = _times(case) if ranked else (None, None)
    ok = info["status"] == OK
    return Timing(
        **{word: _printable(info[word]) for word in WORDS},
        keys=int(_positive(f"the shape of {name}", info["shape"], "S")),
        kernels=tuple(map(str, info["kernels"])),
        versions=info["versions"],
        compiled=bool(info.get("compiled")),
        figures=numbers(name, info, FIGURES),
        median=median if ok else None,
        iqr=iqr if ok else None,
    )


def _printable(text: str) -> str:
    """The text with escapes for what a terminal would obey, not show."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _times(case: Mapping[str, Any]) -> tuple[float, float | None]:
    """Median and distance of the quartiles."""
    check(f"the benchmark {case['name']}", case, {"stats": dict})
    median = _positive(case["name"], case["stats"], "median")
    return median, numbers(case["name"], case["stats"], ["iqr"]).get("iqr")


def _positive(what: str, data: Mapping[str, Any], name: str) -> float:
    value = numbers(what, data, [name]).get(name, 0.0)
    if not 0 < value < math.inf:
        raise ValueError(f"wanted {what} with {name!r} above 0, came {shown(data)}")
    return value


def _targets(document: Mapping[str, Any]) -> tuple[Target, ...]:
    found = document.get("goals", [])
    check("benchmarks", {"goals": found}, {"goals": list})
    for target in found:
        check("a target", target, TARGET)
    return tuple(
        Target(
            target["what"],
            numbers(target["what"], target, ["limit"])["limit"],
            {**dict.fromkeys(target["values"]), **numbers(target["what"], target["values"], target["values"])},
            target["at_least"],
        )
        for target in found
    )


def _is_suite(case: Mapping[str, Any]) -> bool:
    return bool(case["extra_info"].keys() & {*SUITE, *MUTANT})


def _suite(cases: Iterable[Mapping[str, Any]]) -> Suite:
    found: dict[str, float] = {}
    kills: dict[str, float | None] = {}
    for case in cases:
        info, (median, _) = case["extra_info"], _times(case)
        found |= numbers(case["name"], info, SUITE)
        if info.keys() & MUTANT.keys():
            check(f"the extra_info of {case['name']}", info, MUTANT)
            kills[info["mutant"]] = median if info["killed"] else None
    return Suite(found.get("problems_a_second"), found.get("compile_share"), kills)
