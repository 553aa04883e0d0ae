"""Writing the result file: pytest-benchmark's JSON, and in ``extra_info`` and ``unranked`` what it does not know."""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Any

from attnspec.benchmarks.contest import OK, Entry
from attnspec.benchmarks.machine import Machine

Document = dict[str, Any]


def document(entries: Iterable[Entry], machine: Machine) -> Document:
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


def completed(run: Document, entries: Iterable[Entry], machine: Machine) -> Document:
    """The run with who is not ranked, and what the machine can do at most: each benchmark's share of that."""
    run["unranked"] = [_head(entry) for entry in entries if entry.status != OK]
    run["machine_info"] |= {"peak_gflops": machine.gflops, "bandwidth_gbs": machine.bandwidth}
    for benchmark in (b for b in run["benchmarks"] if "workload" in b["extra_info"]):  # not the suite's own speed
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
