"""What pytest-benchmark's JSON gets from a run of ``pytest benchmarks``: the machine, and who is not ranked."""

from collections.abc import Sequence
from typing import Any

import pytest

from attnspec.benchmarks.contest import Entry, Limits, contest
from attnspec.benchmarks.machine import Machine
from attnspec.benchmarks.results import completed
from attnspec.benchmarks.workloads import WORKLOADS

MACHINE = Machine()
FOUND: dict[str, dict[str, Entry]] = {}
"""What came of each backend, by workload."""


@pytest.fixture
def entry(request: pytest.FixtureRequest, name: str, workload: str) -> Entry:
    """What came of the backend on the workload, timed together with all others that this run has on it."""
    if workload not in FOUND:
        MACHINE.measure(WORKLOADS[workload].dtype)
        names = _names(request.session.items, workload)
        FOUND[workload] = dict(zip(names, contest(WORKLOADS[workload], names, Limits()), strict=True))
    return FOUND[workload][name]


def _names(items: Sequence[pytest.Item], workload: str) -> list[str]:
    calls = [item.callspec.params for item in items if hasattr(item, "callspec")]
    return [call["name"] for call in calls if call.get("workload") == workload]


def pytest_benchmark_update_json(output_json: dict[str, Any]) -> None:
    """Complete what pytest-benchmark has made of the ranked ones."""
    entries = (entry for found in FOUND.values() for entry in found.values())
    completed(output_json, entries, MACHINE)
