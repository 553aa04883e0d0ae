"""Facts that no convention names: what a mask of integers does, which shapes a mask may have, and dropout."""

from collections.abc import Iterator

import numpy as np

from attnspec.probing.adapter import Adapter, Binding
from attnspec.probing.experiments.options import candidates
from attnspec.probing.finding import KEYWORD, Finding
from attnspec.probing.lab import Lab, attempt, recipe_of
from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import Violation
from attnspec.specs.conventions import Holding
from attnspec.specs.invariants.common import hold_result
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Problem, lifted, numpy_dtype
from attnspec.specs.settings import SETTINGS

REFUSES = ("raises", "booleans")
"""What a mask of numbers may do without that the adapter must refuse it."""


def masks(lab: Lab, adapter: Adapter, plain: Problem) -> Iterator[tuple[Adapter, Finding]]:
    """What a mask and a bias may be shaped like, and what a mask of zeros and ones that are no booleans does."""
    for option in ("mask", "bias"):
        if option in adapter.options:
            yield adapter, _shaped(lab, adapter, plain, option)
    dtypes = ("int64", plain.dtype) if "mask" in adapter.options else ()
    for finding in [_numbers(lab, adapter, plain, dtype) for dtype in dtypes]:
        if finding.value not in REFUSES:
            adapter = adapter.with_(refused={**adapter.refused, "mask_dtype": finding.note})
        yield adapter, finding


def _shaped(lab: Lab, adapter: Adapter, plain: Problem, option: str) -> Finding:
    trials = []
    for setting in SETTINGS[option]:
        problem = recipe_of(plain).with_settings(**{option: setting}).problem()
        trial = lab.attempt(adapter, problem, tuple(problem.options[option].shape))
        if setting not in ("holed", "hiding", "lowest", "foreign"):
            trials.append(trial)
    taken = tuple(f"({', '.join(map(str, trial.value))})" for trial in trials if trial.fits)
    sizes = "B {}, Hq {}, L {}, S {}".format(*(plain.shape[i] for i in (0, 1, 3, 4)))
    return Finding(f"{option}_shapes", taken, f"{option} of different shapes, {sizes}", tuple(trials))


def _numbers(lab: Lab, adapter: Adapter, plain: Problem, dtype: str) -> Finding:
    """0 and 1 in place of False and True."""
    problem = recipe_of(plain).with_settings(mask="full").problem()
    attend = problem.options["mask"].astype(numpy_dtype(dtype))
    given = problem.with_options(mask=1 - attend if adapter.conventions["mask"] == "block" else attend)
    bias = problem.with_options(mask=None, bias=attend.astype(np.float64))
    backend = lab.backend(adapter)
    trials = [
        attempt(backend, given, name, reading(wanted)) for name, wanted in (("booleans", problem), ("added", bias))
    ]
    value = next((trial.value for trial in trials if trial.fits), "otherwise")
    value = "raises" if trials[0].came.startswith("attention raised") else value
    return Finding(f"mask_of_{dtype}", value, f"a mask of 0 and 1 as {dtype}", tuple(trials))


def reading(wanted: Problem) -> Holding:
    """What is given is read as the problem ``wanted``."""
    return lambda backend, problem: hold_result(backend, wanted, backend.solve(problem))


def dropout(lab: Lab, adapter: Adapter, plain: Problem, told: dict[str, str]) -> Iterator[tuple[Adapter, Finding]]:
    """Values that show the weights: with dropout each is either 0 or as much larger as the rate says."""
    takers = dict(reversed(candidates(adapter, told)))
    rate, seed = takers.get("dropout_rate"), takers.get("seed")
    if rate is None:
        return
    pairs = {"dropout_rate": rate, **({"seed": seed} if seed else {})}
    tried = adapter.with_(options={**adapter.options, **{name: Binding(taker) for name, taker in pairs.items()}})
    options = {"dropout_rate": 0.5, **({"seed": 1} if seed else {})}
    trial = attempt(lab.backend(tried), _showing(plain).with_options(**options), rate, _dropped)
    words = "half of the weights dropped, shown by values that are a unit matrix"
    if not trial.fits:
        yield adapter, Finding(f"{KEYWORD}dropout_rate", None, words, (trial,), wanted=("the name of a parameter",))
    elif seed is None:
        value = f"{rate}, without a seed: left out of the adapter"
        yield adapter, Finding(f"{KEYWORD}dropout_rate", value, words, (trial,))
    else:
        yield tried, Finding(f"{KEYWORD}dropout_rate", f"{rate}, with {seed}", words, (trial,))


def _showing(plain: Problem) -> Problem:
    """As many values as they are wide, a unit matrix: the output is the weights."""
    width = plain.shape[4]
    rng = plain.rng
    shapes = {name: (*getattr(plain, name).shape[:-1], width) for name in ("query", "key")}
    value = np.broadcast_to(np.eye(width), (*plain.value.shape[:-1], width)).astype(plain.dtype)
    numbers = {name: rng.standard_normal(shape).astype(plain.dtype) for name, shape in shapes.items()}
    return plain.replace(**numbers, value=value)


def _dropped(backend: Backend, problem: Problem) -> float:
    """Error ÷ bound of what is not dropped. Violation if nothing is dropped, or everything."""
    came = np.asarray(lifted(backend.solve(problem).output), np.float64)
    kept: Floats = np.where(came == 0, 0.0, 2 * backend.solution(problem).weights)
    share = float(np.mean(came == 0))
    if not 0.2 < share < 0.8:
        raise Violation(f"wanted about half of the weights dropped, came {share:.0%}")
    ratio = float(np.max(np.abs(came - kept) / (4 * backend.bound(problem).output)))
    if ratio > 1:
        raise Violation(f"wanted twice the weights that are not dropped, came others, err/bound {ratio:.3g}")
    return ratio
