"""The suite's own speed: problems a second, mutants killed, the share of compiling."""

from typing import Any

import pytest

from attnspec.benchmarks import suite
from attnspec.specs.outcome import FAILED


@pytest.mark.benchmark(group="suite: problems")
def test_problems(benchmark: Any) -> None:
    rate = benchmark.pedantic(suite.problems_a_second, rounds=3)
    benchmark.extra_info["problems_a_second"] = rate


@pytest.mark.benchmark(group="suite: mutants")
@pytest.mark.parametrize("mutant", suite.mutants())
def test_kill(benchmark: Any, mutant: str) -> None:
    outcome = benchmark.pedantic(suite.killed, (mutant,))
    benchmark.extra_info |= {"mutant": mutant, "killed": outcome.status == FAILED}


@pytest.mark.benchmark(group="suite: compiling")
def test_compiling(benchmark: Any) -> None:
    pytest.importorskip("jax")
    benchmark.extra_info["compile_share"] = benchmark.pedantic(suite.compile_share)
