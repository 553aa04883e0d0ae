"""Each convention by the problems of its invariant: the one value under which the oracle's answer is what comes.

Where an invariant has no telling problems of its own, the experiment is another function here or in a module beside.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attnspec.probing.adapter import Adapter
from attnspec.probing.experiments import nonfinite, precision
from attnspec.probing.finding import Finding
from attnspec.probing.ideal import ideal
from attnspec.probing.lab import Lab, attempt
from attnspec.show import problem_lines
from attnspec.specs.catalogue import catalogue
from attnspec.specs.contract import CONVENTIONS, FUNCTIONS
from attnspec.specs.conventions import following
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import Recipe, Shape

Experiment = Callable[[Lab, Adapter], Finding]

APART: dict[str, Experiment] = {
    "masked_nonfinite": nonfinite.masked_nonfinite,
    "value_range": nonfinite.value_range,
    "intermediate_dtype": precision.intermediate_dtype,
}
"""Conventions whose values are not told apart by one answer of the oracle under each."""

BEFORE = ("layout",)
"""Those that the plain call has shown."""


def _emptied_by_causality(dtype: str) -> Problem:
    """With L > S a diagonal that ends at the last key leaves the first queries without one."""
    return Recipe(Shape(1, 2, 2, 4, 2, 2, 2), dtype).with_settings(is_causal="on").problem()


MORE = {"empty_row": (_emptied_by_causality,)}
"""Problems beside those of the invariant."""


def conventions(lab: Lab, adapter: Adapter, told: Mapping[str, Any]) -> Iterator[tuple[Adapter, Finding]]:
    """The adapter with one convention more, and what shows it."""
    for name in CONVENTIONS:
        if name not in BEFORE:
            finding = (
                Finding(name, told[name], "said") if name in told else APART.get(name, by_probes(name))(lab, adapter)
            )
            if finding.told and finding.asked:
                adapter = adapter.following(**{name: finding.value})
            elif name == "empty_row_bias":
                adapter = adapter.following(empty_row_bias=adapter.conventions["empty_row"])
            yield adapter, finding


def by_probes(name: str) -> Experiment:
    """The experiment that tries every value of the convention on the problems of its invariant."""

    def experiment(lab: Lab, adapter: Adapter) -> Finding:
        functions = catalogue()[f"convention.{name}"].claims & frozenset(FUNCTIONS)
        if functions:
            return Finding(name, None, f"no {', '.join(functions)}", asked=False, wanted=CONVENTIONS[name])
        asked = [problem for problem in problems(name, adapter) if lab.backend(adapter).supports(problem.features)]
        told = [finding for problem in asked if (finding := _on(lab, adapter, name, problem)) is not None]
        return combined(name, asked, told)

    return experiment


def problems(name: str, adapter: Adapter) -> list[Problem]:
    """Those of the invariant ``convention.`` and the name, in the first dtype that the adapter takes."""
    dtype = "float32" if "float32" in adapter.dtypes else adapter.dtypes[0]
    return [make(dtype) for make in (*catalogue()[f"convention.{name}"].probes, *MORE.get(name, ()))]


def combined(name: str, asked: Sequence[Problem], told: Sequence[Finding]) -> Finding:
    """What the problems say together: one value, or, where they say several or none, no answer."""
    if not asked:
        return Finding(name, None, "takes no option of it", asked=False, wanted=CONVENTIONS[name])
    said = {finding.value for finding in told} - {None}
    if not told and asked:
        return Finding(name, None, "every problem has the same answer", asked=False, wanted=CONVENTIONS[name])
    if len(said) == 1:
        return next(finding for finding in told if finding.value is not None)
    words = " / ".join(finding.experiment for finding in told)
    return Finding(name, None, words, sum((f.trials for f in told), ()), wanted=CONVENTIONS[name])


def _on(lab: Lab, adapter: Adapter, name: str, problem: Problem) -> Finding | None:
    """What one problem says; None if all values give the same answer to it."""
    values = CONVENTIONS[name]
    if not any(apart(adapter, name, problem, first, second) for first in values for second in values):
        return None
    trials = tuple(lab.attempt(adapter.following(**{name: value}), problem, value) for value in values)
    fitting = [trial.value for trial in trials if trial.fits]
    sure = [v for v in fitting if all(apart(adapter, name, problem, other, v) for other in fitting if other != v)]
    return Finding(name, sure[0] if len(sure) == 1 else None, words(problem), trials, wanted=values)


def apart(adapter: Adapter, name: str, problem: Problem, first: Any, second: Any) -> bool:
    """Whether what follows ``first`` to the letter does not pass for what follows ``second``."""
    backend = ideal({**adapter.conventions, name: first})
    return first != second and not attempt(following(backend, name, second), problem, second).fits


def words(problem: Problem) -> str:
    """The problem on one line."""
    sizes, *lines = problem_lines(problem)
    options = [line for line in lines if not line.startswith(("query (", "key (", "value ("))]
    return "; ".join([sizes, *options])
