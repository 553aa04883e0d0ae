"""Benchmarks as ``attnspec bench --json`` writes them: pytest-benchmark's JSON, ``extra_info`` with what was timed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnspec.conformance.runs import check, numbers
from attnspec.specs.contract import shown

BENCH = {"machine_info": dict, "datetime": str, "benchmarks": list, "unranked": list}
"""What a file holds, with the types."""

MACHINE = {"cpu": dict, "peak_gflops": dict}

EXTRA = {
    "backend": str,
    "workload": str,
    "status": str,
    "what": str,
    "dtype": str,
    "shape": dict,
    "options": list,
    "kernels": list,
    "versions": dict,
}
"""What is said of each timing."""

SHAPE = dict.fromkeys(("B", "Hq", "Hkv", "L", "S", "Dk", "Dv"), int)

FIGURES = ("gflops", "peak_share", "bandwidth_share", "compile_seconds", "peak_memory", "error_over_bound")
"""Measured beside the time, as far as that was possible: GFLOP/s, shares of 1, seconds, bytes, a ratio."""

RANKED = "ok"
"""The status of a timing that may be compared; any other says why it may not."""


@dataclass(frozen=True)
class Timing:
    """One backend on one workload; ``median`` and ``iqr`` in seconds, None where there is nothing to rank."""

    backend: str
    group: str
    status: str
    reason: str
    what: str
    dtype: str
    shape: Mapping[str, int]
    options: tuple[str, ...]
    kernels: tuple[str, ...]
    versions: Mapping[str, str]
    compiled: bool
    figures: Mapping[str, float]
    median: float | None = None
    iqr: float | None = None
    rounds: int | None = None


@dataclass(frozen=True)
class Other:
    """A benchmark of something else than a backend: its group, name and median in seconds."""

    group: str
    name: str
    median: float


@dataclass(frozen=True)
class Bench:
    """One run of benchmarks. Only what is in the same run is ever compared."""

    date: str
    machine: Mapping[str, Any]
    peaks: Mapping[str, float]
    """GFLOP/s of a matrix product, by dtype."""
    bandwidth: float | None
    """GB/s."""
    timings: tuple[Timing, ...]
    others: tuple[Other, ...]


def read_bench(file: Path, data: dict[str, Any]) -> Bench:
    """The run in the decoded object that ``file`` holds. ValueError in a line if it is damaged or older."""
    data = {"unranked": [], **data}  # pytest-benchmark alone knows none
    check(file, "benchmarks", data, BENCH)
    machine = {"cpu": {}, "peak_gflops": {}, **data["machine_info"]}
    check(file, "machine_info", machine, MACHINE)
    for entry in [*data["benchmarks"], *data["unranked"]]:
        check(file, "a benchmark", entry, {"name": str, "extra_info": dict})
    ours, others = _parted(data["benchmarks"])
    timings = [_timing(file, e, _stats(file, e)) for e in ours] + [_timing(file, e, {}) for e in data["unranked"]]
    rest = [Other(str(e.get("group") or ""), e["name"], _stats(file, e)["median"]) for e in others]
    peaks = numbers(file, "peak_gflops", machine["peak_gflops"], machine["peak_gflops"])
    bandwidth = numbers(file, "machine_info", machine, ["bandwidth_gbs"]).get("bandwidth_gbs")
    return Bench(data["datetime"], machine, peaks, bandwidth, tuple(timings), tuple(rest))


def _parted(entries: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Those of backends, and the others."""
    ours: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for entry in entries:
        (ours if "backend" in entry["extra_info"] else others).append(entry)
    return ours, others


def _stats(file: Path, entry: dict[str, Any]) -> dict[str, float]:
    check(file, f"the benchmark {entry['name']}", entry, {"stats": dict})
    stats = numbers(file, entry["name"], entry["stats"], ("median", "iqr", "rounds"))
    if not stats.get("median", 0) > 0:
        raise ValueError(f"{file}: wanted {entry['name']} with a median above 0, came {shown(entry['stats'])}")
    return stats


def _timing(file: Path, entry: dict[str, Any], stats: Mapping[str, float]) -> Timing:
    extra = {"options": [], "kernels": [], "versions": {}, **entry["extra_info"]}
    check(file, f"the extra_info of {entry['name']}", extra, EXTRA)
    check(file, f"the shape of {entry['name']}", extra["shape"], SHAPE)
    ranked = extra["status"] == RANKED and bool(stats)
    return Timing(
        backend=extra["backend"],
        group=str(entry.get("group") or extra["workload"]),
        status=extra["status"],
        reason=str(extra.get("reason") or ""),
        what=extra["what"],
        dtype=extra["dtype"],
        shape=extra["shape"],
        options=tuple(map(str, extra["options"])),
        kernels=tuple(map(str, extra["kernels"])),
        versions=extra["versions"],
        compiled=bool(extra.get("compiled")),
        figures=numbers(file, entry["name"], extra, FIGURES),
        median=stats["median"] if ranked else None,
        iqr=stats.get("iqr") if ranked else None,
        rounds=int(stats["rounds"]) if ranked and "rounds" in stats else None,
    )
