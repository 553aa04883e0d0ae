"""The result file: pytest-benchmark's own JSON, with what it has no place for in ``extra_info`` and ``unranked``."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from attnspec.benchmarks.contest import OK, Entry
from attnspec.benchmarks.machine import Machine
from attnspec.specs.problem import parse_object

Run = dict[str, Any]

RUN = {"machine_info": dict, "benchmarks": list, "unranked": list, "datetime": str}
CASE = {"group": str, "name": str, "extra_info": dict}
INFO = {"backend": str, "workload": str, "status": str, "dtype": str, "shape": dict, "family": str}
"""What a file holds, with the types."""


def document(entries: Iterable[Entry], machine: Machine) -> Run:
    """The run as pytest-benchmark would write it. ModuleNotFoundError without that package."""
    from pytest_benchmark import __version__
    from pytest_benchmark.utils import get_commit_info

    entries = list(entries)
    benchmarks = [{**_head(e), "stats": statistics(e)} for e in entries if e.status == OK]
    run = {
        "machine_info": dict(_machine_info()),
        "commit_info": get_commit_info(),
        "benchmarks": benchmarks,
        "datetime": datetime.now(UTC).isoformat(),
        "version": __version__,
    }
    return completed(run, entries, machine)


def completed(run: Run, entries: Iterable[Entry], machine: Machine) -> Run:
    """The run with who is not ranked, and what the machine can do at most: each benchmark's share of that."""
    run["unranked"] = [_head(entry) for entry in entries if entry.status != OK]
    run["machine_info"] |= {"peak_gflops": machine.gflops, "bandwidth_gbs": machine.bandwidth}
    for benchmark in run["benchmarks"]:
        info, median = benchmark["extra_info"], benchmark["stats"]["median"]
        info["gflops"] = 1e-9 * info["flops"] / median
        peak = machine.gflops.get(info["dtype"])
        info["peak_share"] = info["gflops"] / peak if peak else None
        info["bandwidth_share"] = 1e-9 * info["bytes"] / median / machine.bandwidth if machine.bandwidth else None
    return run


def _head(entry: Entry) -> dict[str, Any]:
    name = f"test_speed[{entry.name}]"
    params = {"name": entry.extra_info["backend"], "workload": entry.workload.name}
    head = {"group": entry.workload.name, "name": name, "fullname": f"benchmarks/test_speed.py::{name}"}
    return {**head, "params": params, "param": entry.name, "extra_info": entry.extra_info, "options": {}}


def statistics(entry: Entry) -> dict[str, Any]:
    """pytest-benchmark's statistics of the rounds, in seconds."""
    from pytest_benchmark.stats import Stats

    stats = Stats()
    for seconds in entry.seconds:
        stats.update(seconds)
    return {**stats.as_dict(), "data": entry.seconds, "iterations": entry.info["iterations"]}


@cache
def _machine_info() -> dict[str, Any]:
    from pytest_benchmark.plugin import pytest_benchmark_generate_machine_info

    return dict(pytest_benchmark_generate_machine_info())


def read(file: Path) -> Run:
    """The run in a file. ValueError in a line if it is damaged, or none of attnspec's benchmarks."""
    try:
        run = parse_object(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: wanted the JSON of attnspec bench, came {error}") from None
    _check(file, "a run", run, RUN)
    for case in (*run["benchmarks"], *run["unranked"]):
        _check(file, "a benchmark", case, CASE)
    run["benchmarks"] = [case for case in run["benchmarks"] if "workload" in case["extra_info"]]  # not the suite's own
    for case in (*run["benchmarks"], *run["unranked"]):
        _check(file, "extra_info", case["extra_info"], INFO)
    for case in run["benchmarks"]:
        _check(file, "a benchmark", case, {"stats": dict})
        _check(file, "stats", case["stats"], {"median": float, "iqr": float, "q1": float, "q3": float})
    return run


def _check(file: Path, what: str, data: Any, wanted: Mapping[str, type]) -> None:
    if not isinstance(data, dict):
        raise ValueError(f"{file}: wanted {what} as an object, came {type(data).__name__}")
    for name, kind in wanted.items():
        if not isinstance(data.get(name), kind):
            came = type(data[name]).__name__ if name in data else "none: damaged, or not of this attnspec's bench"
            raise ValueError(f"{file}: wanted {what} with {name!r}, came {came}")
