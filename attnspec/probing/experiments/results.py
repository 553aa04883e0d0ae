"""Where the weights and the log-sum-exp stand in what is returned, with a flag or always."""

import itertools
from collections.abc import Iterator

from attnspec.probing.adapter import Adapter, Binding
from attnspec.probing.experiments.options import RESULTS, candidates
from attnspec.probing.finding import KEYWORD, Finding, Trial
from attnspec.probing.lab import Lab
from attnspec.specs.contract import CONVENTIONS
from attnspec.specs.problem import Problem


def results(lab: Lab, adapter: Adapter, plain: Problem, told: dict[str, str]) -> Iterator[tuple[Adapter, Finding]]:
    """The adapter with the weights or the log-sum-exp too, wherever they stand in what is returned."""
    for option in RESULTS:
        takers = [parameter for other, parameter in candidates(adapter, told) if other == option]
        if takers or adapter.wrapped:
            found = _returned(lab, adapter, plain, option, takers[:1])
            if found[0] is not adapter or takers:
                adapter = found[0]
                yield found


def _returned(lab: Lab, adapter: Adapter, plain: Problem, option: str, takers: list[str]) -> tuple[Adapter, Finding]:
    """Each place in a tuple of up to four, either way round; the problem asks for all parts that are known."""
    part = option.removeprefix("return_")
    asked = {f"return_{name}": True for name in adapter.parts if name != "output"}
    problem = plain.with_options(**{option: True})
    together = plain.with_options(**{option: True}, **asked)
    options = {**adapter.options, **({option: Binding(takers[0])} if takers else {})}
    trials = []
    values = CONVENTIONS["lse_base"] if option == "return_lse" else (None,)
    for place, turned, value in itertools.product((1, 2, 0, 3), (False, True) if part == "lse" else (False,), values):
        for parts in _places(adapter, part, place):
            tried = adapter.with_(options=options, parts=parts, turned=turned or adapter.turned)
            tried = tried.following(lse_base=value) if value else tried
            words = f"number {place}{', as (B, L, H)' * turned}"
            trial = next((t for p in (problem, together) if not (t := lab.attempt(tried, p, words)).fits), None)
            if trial is None:
                found = Finding(
                    KEYWORD + option,
                    " ".join([*takers, words]),
                    f"{option} as {takers or 'always'}",
                    (Trial(words, True, "fits"),),
                )
                return tried, found
            trials.append(trial)
    return adapter, Finding(
        KEYWORD + option, None, f"{option} as {takers or 'always'}", tuple(trials[:2]), wanted=("a parameter",)
    )


def _places(adapter: Adapter, part: str, place: int) -> list[dict[str, int]]:
    """Where all parts stand if this one stands at ``place``: others make room for it, or were there first."""
    parts = {"output": 0, **adapter.parts}
    if place in parts.values() and not adapter.wrapped:
        moved = {name: at + (at >= place) for name, at in parts.items()}
        return [{**moved, part: place}]
    return [] if place in parts.values() else [{**parts, part: place}]
