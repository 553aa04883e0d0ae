"""The experiments in their order: each starts from what the ones before it have shown."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attnspec.errors import modules_of, not_installed
from attnspec.loading import binding
from attnspec.probing.adapter import Adapter
from attnspec.probing.experiments import base, conventions, extras, features, memory, options, results
from attnspec.probing.finding import Finding, Trial
from attnspec.probing.lab import Lab
from attnspec.probing.request import Request
from attnspec.probing.source import module_source
from attnspec.probing.subject import Subject, subject
from attnspec.specs.contract import CONVENTIONS, OPTIONS
from attnspec.specs.synonyms import meant_by

Event = dict[str, Any]


def investigate(lab: Lab, request: Request) -> Iterator[Event]:
    """A finding for each experiment, and at the end the adapter. ValueError if nothing works."""
    adapter = Adapter(subject(request.target, tuple(request.given)))
    notes: dict[str, str] = {}
    unknown: list[str] = []
    for step in steps(lab, request, adapter):
        adapter, finding = step
        if finding.value is not None and finding.trials:
            notes[finding.name] = finding.note
        unknown += [] if finding.told else [finding.unknown]
        yield {"event": "finding", "finding": finding.to_json()}
    adapter = adapter.with_(notes={**adapter.notes, **notes, "unknown": "\n".join(unknown)})
    beside = None if request.out is None else Path(request.out).parent
    yield {"event": "adapter", "source": module_source(adapter, beside)}


Step = tuple[Adapter, Finding]


def steps(lab: Lab, request: Request, adapter: Adapter) -> Iterator[Step]:
    """The adapter as it grows, with what was found."""
    plain: base.Plain | None = None
    for found in _based(lab, request, adapter):
        if isinstance(found, base.Plain):
            plain = found
        else:
            yield adapter, found
    assert plain is not None
    takers = {name: str(value) for name, value in request.told.items() if name in OPTIONS}
    problem, latest = plain.problem, plain.adapter
    for experiments in (
        lambda now: options.bound(lab, now, problem, takers),
        lambda now: results.results(lab, now, problem, takers),
        lambda now: iter([features.dtypes(lab, now, problem)]),
        lambda now: options.grouping(lab, now),
        lambda now: features.shapes(lab, now),
        lambda now: iter([features.together(lab, now)]),
        lambda now: iter([(now, features.derivatives(lab, now))]),
        lambda now: conventions.conventions(lab, now, request.told),
        lambda now: extras.masks(lab, now, problem),
        lambda now: extras.dropout(lab, now, problem, takers),
        lambda now: iter([(now, memory.memory(lab, now, problem))]),
        left,
    ):
        for step in experiments(latest):
            latest = step[0]
            yield step


def _based(lab: Lab, request: Request, adapter: Adapter) -> Iterator[Finding | base.Plain]:
    """The library, and the plain call in it."""
    required = {p.name: 1.0 if "scale" in meant_by(p.name) else None for p in adapter.subject.others if p.required}
    adapter = adapter.with_(required=required, fixed=request.given)
    layouts = (request.told["layout"],) if "layout" in request.told else CONVENTIONS["layout"]
    trials: list[Trial] = []
    for name in libraries(request, adapter.subject):
        plain, tried = base.plain_call(lab, adapter.with_(arrays=name), layouts)
        if plain is None and binding(name).RUNS_COMPILED:
            op_by_op = frozenset({frozenset({"compile"})})
            plain, tried = base.plain_call(lab, adapter.with_(arrays=name, lacks=op_by_op), layouts)
        trials.append(Trial(name, plain is not None, "fits" if plain else tried[0].came))
        if plain is not None:
            if plain.problem.query.ndim < 4:
                raise ValueError(few_axes(request.target, plain))
            yield Finding("arrays", name, "query, key and value of each library, no option", tuple(trials))
            yield from base.findings(plain)
            yield plain
            return
    came = "; ".join(f"{trial.value}: {trial.came}" for trial in trials) or "none is installed"
    raise ValueError(f"{request.target}: wanted attention over arrays of one library, came {came}")


def few_axes(target: str, plain: base.Plain) -> str:
    """What is said of a function for one head, or one batch entry."""
    axes = f"one that is right with {plain.problem.query.ndim} axes alone: map it over the others in a wrapper"
    return f"{target}: wanted attention over (batch, heads, length, width) in any order, came {axes}"


def left(adapter: Adapter) -> Iterator[Step]:
    """The parameters that no option goes to."""
    bound = {binding.parameter for binding in adapter.options.values()} | adapter.fixed.keys()
    bound |= adapter.required.keys() | {adapter.grouped}
    others = (p.name for p in adapter.subject.others if not set(options.RANDOM) & set(meant_by(p.name)))
    names = tuple(name for name in others if name not in bound)
    if names:
        yield adapter, Finding("left alone", names, "always at its default; --set OPTION=NAME or --set-arg NAME=VALUE")


def libraries(request: Request, found: Subject) -> list[str]:
    """Those asked for, or else those installed: first what the target has imported, NumPy last of those."""
    for name in request.arrays:
        if not importlib.util.find_spec(name):
            raise ValueError(f"--arrays: {not_installed(name, name)}")
    if request.arrays:
        return list(request.arrays)
    installed = [name for name in modules_of("attnspec.impls.arrays") if importlib.util.find_spec(name)]
    return sorted(installed, key=lambda name: (name not in sys.modules, name == "numpy"))
