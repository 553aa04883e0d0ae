"""A small result of benchmarks with known times, for the tests of what reads it."""

import json

from attnspec.benchmarks.contest import FELL_BACK, OK, SKIPPED, WRONG, Entry
from attnspec.benchmarks.machine import Machine
from attnspec.benchmarks.results import document, statistics
from attnspec.benchmarks.workloads import WORKLOADS
from attnspec.verdict import plain

SIZES = (512, 1024, 2048)
FAMILIES = ("prefill-causal", "backward")

TIMES = {"plain": 2.0, "careful": 3.0, "hasty": 1.0}
"""Milliseconds for 1024 keys; they grow with the square."""

ERRORS = {"plain": 0.5, "careful": 0.004, "hasty": 0.3}
"""Error ÷ bound: plain's is as large as hasty's, which is faster."""

UNRANKED = (
    ("broken", WRONG, "output at [0, 0, 0, 0] wanted 2, came 3, err/bound 1e+05"),
    ("slips", FELL_BACK, "wanted the kernel flash, came math"),
    ("big", SKIPPED, "wanted 12 GiB of memory, came 4 GiB"),
)
"""On the first workload."""

SUITE = {"problems": {"problems_a_second": 2350.0}, "compiling": {"compile_share": 0.42}}
KILLS = {"slow_to_die": 2.5, "quick_to_die": 0.25, "immortal": None}
"""Seconds until each mutant is killed, if it is."""

TARGETS = [
    {"what": "careful ÷ plain", "limit": 1.15, "at_least": False, "values": {"1024": 1.5, "2048": None}, "met": False},
    {"what": "share of the peak", "limit": 0.8, "at_least": True, "values": {"plain": 0.93}, "met": True},
    {"what": "memory", "limit": 64.0, "at_least": False, "values": {"plain": None}, "met": None},
]


def timed(backend, name):
    """A backend's five rounds on a workload."""
    workload = WORKLOADS[name]
    share = (workload.keys / 1024) ** 2
    info = {
        "versions": {"numpy": "2.4.6"},
        "kernels": [f"{backend}_kernel"],
        "compiled": backend == "hasty",
        "compile_seconds": 0.5,
        "peak_memory": int(TIMES[backend] * share * 2**24),
        "error_over_bound": ERRORS[backend],
        "flops": int(5e7 * share),
        "bytes": 2**20,
        "iterations": 1,
    }
    seconds = [1e-3 * TIMES[backend] * share * factor for factor in (1.1, 0.9, 1.0, 1.2, 0.8)]
    return Entry(backend, workload, OK, info=info, seconds=seconds)


def suite_case(name, seconds, info):
    """What pytest-benchmark writes of the suite's own speed."""
    rounds = Entry(name, WORKLOADS["prefill-256"], info={"iterations": 1}, seconds=[seconds])
    return {"group": "suite", "name": name, "extra_info": info, "stats": statistics(rounds)}


def write_sample(file):
    """Write ``file``."""
    workloads = [f"{family}-{n}" for family in FAMILIES for n in SIZES]
    entries = [timed(backend, workload) for workload in workloads for backend in TIMES]
    entries += [Entry(backend, WORKLOADS[workloads[0]], status, reason) for backend, status, reason in UNRANKED]
    run = document(entries, Machine({"float32": 100.0}, 12.5))
    run["benchmarks"] += [suite_case(name, 1.0, info) for name, info in SUITE.items()]
    for mutant, seconds in KILLS.items():
        told = {"mutant": mutant, "killed": seconds is not None}
        run["benchmarks"].append(suite_case(f"test_kill[{mutant}]", seconds or 9.0, told))
    file.write_text(json.dumps(plain({**run, "goals": TARGETS})))
