"""Which parameter takes which option, in which form: proposed by name, confirmed by the oracle's answer."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from attnspec.probing.adapter import Adapter, Binding
from attnspec.probing.finding import KEYWORD, Finding, Trial, choose
from attnspec.probing.forms import forms
from attnspec.probing.lab import Lab, recipe_of
from attnspec.specs.contract import CONVENTIONS
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import Recipe
from attnspec.specs.settings import SETTINGS
from attnspec.specs.survey import shape_with
from attnspec.specs.synonyms import GROUPED, meant_by

DECIDING = {
    "mask": ("full",),
    "bias": ("full",),
    "window": ("both", "left", "open-right", "open-left"),
    "key_lengths": ("ragged",),
}
"""Settings with which a form must agree; of other options the first."""

OPEN = {"mask": "mask", "window": "window"}
"""Option → the convention that is not known yet when the option is tried."""

RESULTS = ("return_weights", "return_lse")
SEGMENTS = ("query_segments", "key_segments")
RANDOM = ("dropout_rate", "seed")


def bound(lab: Lab, adapter: Adapter, plain: Problem, told: dict[str, str]) -> Iterator[tuple[Adapter, Finding]]:
    """The adapter with one more option, and what shows it, for each option that a parameter may be."""
    pairs = [pair for pair in candidates(adapter, told) if pair[0] not in (*RESULTS, *RANDOM)]
    segments = [pair for pair in pairs if pair[0] in SEGMENTS]
    alone = [{option: parameter} for option, parameter in pairs if (option, parameter) not in segments]
    unfit = []
    for pair in [*alone, dict(segments)] if len(segments) == len(SEGMENTS) else alone:
        if not pair.keys() <= adapter.options.keys():
            adapter, finding = _bound(lab, adapter, plain, pair)
            unfit += [] if finding.told else [(finding, next(iter(pair.values())))]
            if finding.told:
                yield adapter, finding
    taken = {binding.parameter for binding in adapter.options.values()}
    for finding, parameter in unfit:  # what takes one option need not take the other that it may mean
        if finding.name.removeprefix(KEYWORD) not in adapter.options:
            yield adapter, replace(finding, value=f"not {parameter}") if parameter in taken else finding


def candidates(adapter: Adapter, told: dict[str, str]) -> list[tuple[str, str]]:
    """(option, parameter) for each parameter whose name may mean the option, or that is said to take it."""
    free = [p.name for p in adapter.subject.others if p.name not in adapter.fixed]
    named = [(option, name) for name in free for option in meant_by(name) if option not in told]
    return [*told.items(), *named]


def _bound(lab: Lab, adapter: Adapter, plain: Problem, pairs: dict[str, str]) -> tuple[Adapter, Finding]:
    option = next(iter(pairs))
    name, convention = KEYWORD + "+".join(pairs), OPEN.get(option)
    values = CONVENTIONS[convention] if convention else (None,)

    def attempt(form: str) -> Trial:
        last = Trial(form, False, "")
        for value in values:
            problems = _problems(option, plain)
            tried = [lab.attempt(following(form, value), problem, form) for problem in problems]
            last = next((trial for trial in tried if not trial.fits), tried[-1])
            if last.fits:
                fitting.append(following(form, value))
                break
        return replace(last, value=forms(option)[form])

    def following(form: str, value: Any) -> Adapter:
        options = {**adapter.options, **{key: Binding(taker, form) for key, taker in pairs.items()}}
        other = adapter.with_(options=options, **_ambiguous(adapter, option, form))
        return other.following(**{convention: value}) if convention else other

    fitting: list[Adapter] = []
    experiment = f"{' and '.join(pairs)} as {' and '.join(pairs.values())}, setting {', '.join(_settings(option))}"
    finding = choose(name, experiment, list(forms(option)), attempt, lazy=True)
    if not fitting:
        return adapter, replace(finding, wanted=("the name of a parameter",))
    return fitting[0], replace(finding, value=f"{' and '.join(pairs.values())}, {finding.value}")


def _ambiguous(adapter: Adapter, option: str, form: str) -> dict[str, Any]:
    """What must be refused where -1 is said for open: our bounds below 0, which mean something else."""
    if option != "window" or "-1" not in form:
        return {}
    refused = {**adapter.refused, "negative_window": "a bound below 0 would be open"}
    return {"refused": refused, "lacks": adapter.lacks | {frozenset({"negative_window"})}}


def _settings(option: str) -> tuple[str, ...]:
    return ("in runs",) if option in SEGMENTS else DECIDING.get(option, tuple(SETTINGS[option])[:1])


def _problems(option: str, plain: Problem) -> list[Problem]:
    """Problems with the option on which ignoring it, or another reading of it, is another answer."""
    if option in SEGMENTS:
        batch, _, _, queries, *_ = plain.shape
        ids = np.sort(np.arange(batch * queries).reshape(batch, queries) % 3, axis=-1)
        shaped = ids if plain.query.ndim == 4 else ids[0]
        return [plain.with_options(query_segments=shaped, key_segments=shaped)]
    recipe = recipe_of(plain)
    return [recipe.with_settings(**{option: setting}).problem() for setting in _settings(option)]


def grouping(lab: Lab, adapter: Adapter) -> Iterator[tuple[Adapter, Finding]]:
    """The flag without which fewer key/value heads are refused, if the function has one."""
    flags = [p.name for p in adapter.subject.others if p.name in GROUPED][:1]
    dtype = "float32" if "float32" in adapter.dtypes else adapter.dtypes[0]
    problem = Recipe(shape_with("gqa"), dtype, "gaussian", 5).problem()
    for flag in flags:
        trials = [right(lab, adapter.with_(grouped=name), problem, name or "without") for name in ("", flag)]
        needed = trials[1].fits and not trials[0].fits
        value = f"{flag}, where key has fewer heads" if needed else "needs no flag"
        found = Finding("gqa_flag", value, "6 query heads over 2, with and without the flag", tuple(trials))
        yield adapter.with_(grouped=flag if needed else ""), found


def right(lab: Lab, adapter: Adapter, problem: Problem, value: Any) -> Trial:
    """Whether the answer is right under some map of heads."""
    tries = [lab.attempt(adapter.following(gqa_map=choice), problem, value) for choice in CONVENTIONS["gqa_map"]]
    return next((trial for trial in tries if trial.fits), tries[0])
