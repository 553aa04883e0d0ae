"""How fast the suite itself is: problems a second, seconds until a mutant is killed, and what compiling takes.

``pytest benchmarks/test_suite.py`` times them; ``attnspec bench --targets`` tells the first beside its target;
``python -P -m attnspec.benchmarks.suite`` tells what its steps take.
"""

import importlib
import os
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice

import numpy as np
from threadpoolctl import threadpool_limits

from attnspec.child import Job
from attnspec.errors import modules_of
from attnspec.isolate import verify as verify_apart
from attnspec.loading import load
from attnspec.specs.cases import PROFILES
from attnspec.specs.catalogue import catalogue
from attnspec.specs.examine import examine
from attnspec.specs.outcome import Outcome
from attnspec.specs.plan import POOL
from attnspec.specs.recipe import Recipe
from attnspec.specs.values import DISTRIBUTIONS
from attnspec.specs.verify import verify

TINY = tuple(shape for shape in POOL if shape.batch and 0 < shape.queries * shape.keys <= 64)
"""Shapes of so many scores a head at most."""

PROBLEMS = 2000

WARMING = 500
"""So many problems come before those that are timed: the first ones meet cold caches."""


def recipes(count: int) -> Iterator[Recipe]:
    """Problems that no cache knows: each has numbers of its own."""
    dtypes, values = cycle(("float64", "float32", "float16")), cycle(DISTRIBUTIONS)
    for seed, shape in enumerate(islice(cycle(TINY), count), 10**6):
        yield Recipe(shape, next(dtypes), next(values), seed)


@np.errstate(all="ignore")
def problems_a_second(count: int = PROBLEMS) -> float:
    """Drawn, given to ``numpy_naive``, solved, and held to the definition's error bound, with one thread."""
    backend, check = load("numpy_naive"), catalogue()["definition.output"].check
    drawn = list(recipes(count + WARMING))
    with threadpool_limits(1):
        for recipe in drawn[:WARMING]:
            check(backend, recipe.problem())
        start = time.perf_counter()
        for recipe in drawn[WARMING:]:
            check(backend, recipe.problem())
        return count / (time.perf_counter() - start)


@np.errstate(all="ignore")
def steps(count: int = PROBLEMS) -> dict[str, float]:
    """Microseconds that each step of a tiny problem takes on average, with one thread."""
    backend, check = load("numpy_naive"), catalogue()["definition.output"].check
    each: dict[str, Callable[[Recipe], object]] = {
        "drawing": Recipe.problem,
        "oracle": lambda recipe: backend.solution(recipe.problem()).output,
        "bound": lambda recipe: backend.bound(recipe.problem()).output,
        "backend": lambda recipe: backend.solve(recipe.problem()),
        "backend and comparison": lambda recipe: check(backend, recipe.problem()),
    }
    spent = dict.fromkeys(each, 0.0)
    with threadpool_limits(1):
        for number, recipe in enumerate(recipes(count + WARMING)):
            for name, step in each.items():
                start = time.perf_counter()
                step(recipe)
                spent[name] += (number >= WARMING) * (time.perf_counter() - start)
    spent["comparison"] = spent.pop("backend and comparison") - spent["backend"]
    return {name: seconds / count * 1e6 for name, seconds in spent.items()}


def mutants() -> tuple[str, ...]:
    """Their names."""
    return modules_of("attnspec.mutants")


def killed(mutant: str) -> Outcome:
    """What comes of the mutant on the quick profile under the invariant that is there for it."""
    module = importlib.import_module(f"attnspec.mutants.{mutant}")
    backend, id, quick = load(module), str(module.KILLED_BY), PROFILES["quick"]
    if id.startswith("contract."):
        return next(iter(verify(backend, quick, [id], shrink=False)))
    return examine(catalogue()[id], backend, quick, shrink=False)


def verified_in(target: str, profile: str = "default") -> float:
    """Seconds that ``attnspec verify`` takes for a target that conforms. ValueError for one that does not."""
    verdict = verify_apart(Job(target, profile))
    if verdict.exit_code:
        raise ValueError(f"{target}: wanted a target that conforms, came exit code {verdict.exit_code}, in verify")
    return verdict.seconds


def compile_share(target: str = "jax_naive") -> float:
    """What compiling takes of the time of a quick verification, with nothing kept from earlier ones."""
    os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"
    rows = verify_apart(Job(target, "quick", durations=True)).rows
    return sum(row.parts.get("compile", 0.0) for row in rows) / sum(row.seconds for row in rows)


def main() -> None:
    """Print what the steps take."""
    for name, microseconds in (found := steps()).items():
        print(f"{name:10} {microseconds:6.0f} µs {microseconds / sum(found.values()):5.0%}")


if __name__ == "__main__":
    main()
