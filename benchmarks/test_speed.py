"""Every backend × every workload. A wrong result is never timed: outputs are checked before and after."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attnspec.benchmarks.workloads import WORKLOADS
from attnspec.errors import Unavailable
from attnspec.loading import load
from attnspec.specs.backend import Backend
from attnspec.specs.problem import Problem
from attnspec.targets import backend_names

SAMPLED = 8


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("name", backend_names())
def test_speed(benchmark: Any, name: str, workload: str) -> None:
    try:
        backend = load(name)
    except Unavailable as error:
        pytest.skip(str(error))
    rng = np.random.RandomState(0)
    problems = [WORKLOADS[workload](rng) for _ in range(2)]
    for problem in problems:
        check(backend, problem)
    calls = [prepared(backend, problem) for problem in problems]
    benchmark.group = workload
    benchmark.extra_info["backend"] = backend.name

    def call() -> None:
        for function, arguments in calls:  # other numbers each time: a cached result is no result
            backend.arrays.synchronize(function(*arguments))

    benchmark.pedantic(call, rounds=3, warmup_rounds=1)
    for problem in problems:
        check(backend, problem)


def prepared(backend: Backend, problem: Problem) -> tuple[Callable[..., Any], list[Any]]:
    """The call as an ordinary user makes it, its arguments already native."""
    inputs, extras, plain = backend.native(problem)
    return backend.positional(tuple(extras), plain, backend.runs_compiled(problem)), [*inputs, *extras.values()]


def check(backend: Backend, problem: Problem) -> None:
    """A few rows of the first head against the definition, whose cost grows with the rows alone."""
    output = backend.solve(problem).output[0, 0]
    length = output.shape[0]
    rows = np.linspace(0, length - 1, SAMPLED).astype(int)
    some = Problem(
        problem.query[:, :1, rows],
        problem.key[:, :1],
        problem.value[:, :1],
        {"mask": np.arange(length) <= rows[:, None]} if problem.options.get("is_causal") else {},
    )
    error = np.abs(output[rows] - backend.solution(some).output[0, 0])
    assert (error <= backend.bound(some).output[0, 0]).all()
