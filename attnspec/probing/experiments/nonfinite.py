"""What NaN at hidden keys and values near the largest number do; both by the check of the invariant."""

import numpy as np

from attnspec.probing.adapter import Adapter
from attnspec.probing.finding import Finding, Trial
from attnspec.probing.lab import Lab
from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.catalogue import Inapplicable, Violation, catalogue
from attnspec.specs.contract import CONVENTIONS
from attnspec.specs.conventions import Contradiction
from attnspec.specs.problem import Problem, largest_number
from attnspec.specs.recipe import Recipe, Shape

HIDDEN = {
    "mask": "shared",
    "bias": "hiding",
    "is_causal": "on",
    "window": "left",
    "key_lengths": "ragged",
    "segments": "packed",
}
"""Option → the setting with which it hides keys."""

SHAPES = (Shape(1, 2, 2, 3, 3, 2, 2), Shape(1, 2, 2, 17, 33, 16, 16))

HEAVY = (Shape(1, 2, 2, 3, 3, 2, 2), Shape(1, 2, 2, 33, 33, 16, 16), Shape(2, 3, 3, 5, 5, 4, 4))


def masked_nonfinite(lab: Lab, adapter: Adapter) -> Finding:
    """NaN and infinities where each option hides: they never show, or somewhere they do."""
    problems = [
        Recipe(shape, _dtype(adapter), seed=4).with_settings(**{option: setting}).problem()
        for shape in SHAPES
        for option, setting in HIDDEN.items()
    ]
    return _by_check(lab, adapter, "masked_nonfinite", "NaN and ±inf at keys and values that are hidden", problems)


def value_range(lab: Lab, adapter: Adapter) -> Finding:
    """Equal values of three quarters of the largest number: the mean is as large, their sum is not finite."""
    problems = [top_heavy(shape, dtype) for shape in HEAVY for dtype in adapter.dtypes]
    return _by_check(lab, adapter, "value_range", "values of 0.75 of the largest number, equal scores", problems)


def top_heavy(shape: Shape, dtype: str) -> Problem:
    """Equal scores, and every value three quarters of the largest number."""
    problem = Recipe(shape, dtype, "small-integers").problem()
    value = np.full_like(problem.value, 0.75 * largest_number(dtype))
    return problem.replace(query=np.zeros_like(problem.query), value=value)


def _by_check(lab: Lab, adapter: Adapter, name: str, words: str, problems: list[Problem]) -> Finding:
    """The strict value of the convention, the first, unless a problem contradicts it."""
    strict, lenient = CONVENTIONS[name]
    backend = lab.backend(adapter.following(**{name: strict}))
    asked = [problem for problem in problems if backend.supports(problem.features)]
    said: dict[str, str] = {}
    for problem in asked:
        said.update(_said(backend, name, problem, strict, lenient))
    if not said:
        why = words if asked else "hides no key"
        return Finding(name, None, why, asked=bool(asked), wanted=(strict, lenient))
    value = lenient if lenient in said else strict
    trials = tuple(Trial(choice, choice == value, said[choice]) for choice in (strict, lenient) if choice in said)
    return Finding(name, value, words, trials, wanted=(strict, lenient))


def _said(backend: Backend, name: str, problem: Problem, strict: str, lenient: str) -> dict[str, str]:
    """Which value this problem speaks for, if for any, and what came."""
    options = ", ".join(problem.options) or problem.dtype
    try:
        catalogue()[f"convention.{name}"].check(backend, problem)
    except Contradiction as error:
        return {lenient: f"{options}: {str(error).partition('; if that')[0]}"}
    except (Inapplicable, Violation, BackendError):
        return {}
    return {strict: f"never shows ({options})" if name == "masked_nonfinite" else f"finite ({options})"}


def _dtype(adapter: Adapter) -> str:
    return "float32" if "float32" in adapter.dtypes else adapter.dtypes[0]
