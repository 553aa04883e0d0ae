"""Every backend × every workload: the rounds of contests, told to pytest-benchmark."""

from collections.abc import Iterator
from typing import Any

import pytest

from attnspec.benchmarks.contest import OK, SKIPPED, Entry
from attnspec.benchmarks.workloads import WORKLOADS
from attnspec.targets import own_names


class Clock:
    """A timer that stands still until it is told how long something took in another process."""

    now = 0.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: Iterator[float]) -> None:
        self.now += next(seconds)


CLOCK = Clock()


@pytest.mark.benchmark(timer=CLOCK)
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("name", own_names())
def test_speed(benchmark: Any, entry: Entry, name: str, workload: str) -> None:
    if entry.status == SKIPPED:
        pytest.skip(entry.reason)
    assert entry.status == OK, entry.reason
    benchmark.group = workload
    benchmark.extra_info |= entry.extra_info
    seconds = iter(entry.seconds)
    benchmark.pedantic(CLOCK.advance, (seconds,), rounds=len(entry.seconds))
