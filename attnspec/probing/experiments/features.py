"""What the function takes: ranks, shapes, dtypes, options together, derivatives; what raises is a lack."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from attnspec.probing.adapter import Adapter
from attnspec.probing.experiments.options import right
from attnspec.probing.finding import Finding, Trial
from attnspec.probing.lab import Lab, recipe_of
from attnspec.specs.backend import Backend
from attnspec.specs.contract import DTYPES, LENGTHS, SHAPE_FEATURES
from attnspec.specs.plan import POOL, one_of_each_kind, plainest, plan
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import Recipe
from attnspec.specs.survey import missing_claims, shape_with

SHAPES = ("rank2", "rank3", "gqa", "value_dim", "cross")
"""Features of the shape that are refused where they are not answered rightly; "rank2" of what takes four axes."""

WORDS = {
    "rank2": "two axes",
    "rank3": "three axes",
    "gqa": "6 query heads over 2",
    "value_dim": "values of another width than keys",
    "cross": "other lengths of query and key",
}


def dtypes(lab: Lab, adapter: Adapter, plain: Problem) -> tuple[Adapter, Finding]:
    """The dtypes in which the plain call is right."""
    trials, recipe = [], recipe_of(plain)
    for dtype in DTYPES:
        problem = replace(recipe, dtype=dtype).problem()
        lenient = adapter.following(intermediate_dtype="at-most-float32")
        tried = lab.attempt(lenient, problem, dtype)
        if not tried.fits and lab.backend(adapter).arrays.RUNS_COMPILED:
            tried = lab.attempt(lenient.with_(lacks=adapter.lacks | {frozenset({"compile"})}), problem, dtype)
        trials.append(tried)
    taken = tuple(trial.value for trial in trials if trial.fits)
    finding = Finding("dtypes", taken, "the plain call in each dtype", tuple(trials))
    return adapter.with_(dtypes=taken), finding


def shapes(lab: Lab, adapter: Adapter) -> Iterator[tuple[Adapter, Finding]]:
    """Each feature of the shape alone: taken, raising, or answered wrongly, which the adapter refuses."""
    dtype = "float32" if "float32" in adapter.dtypes else adapter.dtypes[0]
    for feature in SHAPES:
        problem = Recipe(shape_with(feature), dtype, "gaussian", 5).problem()
        trial = right(lab, adapter, problem, feature)
        value, why = "yes", None
        if not trial.fits:
            wrong = not _raises(trial)
            value = "wrong" if wrong else "raises"
            why = f"{WORDS[feature]}: {trial.came}"
            adapter = adapter.with_(
                lacks=adapter.lacks | {frozenset({feature})},
                refused={**adapter.refused, **({feature: why} if wrong else {})},
                notes={**adapter.notes, feature: why},
            )
        yield adapter, Finding(feature, value, WORDS[feature], (trial,))


def _raises(trial: Trial) -> bool:
    return trial.came.startswith("attention ")


def together(lab: Lab, adapter: Adapter) -> tuple[Adapter, Finding]:
    """Every two options, shapes and dtypes together, and derivatives: what raises, as ``verify`` surveys it."""
    backend, found = missing_claims(lab.backend(adapter), tried)
    trials = tuple(Trial(finding.entry, False, finding.message) for finding in found)
    notes = {finding.entry: finding.message for finding in found}
    lacks = frozenset(lack for lack in backend.declaration.lacks)
    value = tuple(sorted("+".join(sorted(lack)) for lack in lacks))
    adapter = adapter.with_(lacks=lacks, notes={**notes, **adapter.notes})
    return adapter, Finding("lacks", value, "every two options, shapes and dtypes together, and derivatives", trials)


def tried(backend: Backend) -> Iterator[Recipe]:
    """The plan; where each of its problems must be compiled, its pairs on few shapes, then one shape of each kind."""
    if not backend.arrays.RUNS_COMPILED:
        yield from plan(backend)
        return
    lacks = backend.declaration.lacks | {frozenset({feature}) for feature in SHAPE_FEATURES if feature not in LENGTHS}
    rows = plan(backend.assuming(lacks=lacks, dtypes=backend.declaration.dtypes[:1]))
    yield from rows
    for dtype in backend.declaration.dtypes[1:]:
        yield replace(fullest(backend, rows), dtype=dtype)
    for shape in one_of_each_kind(POOL):
        if backend.supports(shape.features):
            yield fullest(backend, [replace(row, shape=shape) for row in rows])


def fullest(backend: Backend, rows: Iterable[Recipe]) -> Recipe:
    """The row with most options that the backend claims together."""
    able = [row for row in rows if backend.supports(row.problem().features)]
    return max(able, key=lambda row: len(row.settings), default=plainest(backend))


def derivatives(lab: Lab, adapter: Adapter) -> Finding:
    """How often it can be derived, and whether forwards."""
    backend = lab.backend(adapter)
    orders = {"1": "gradient", "2": "double_gradient", "forward": "forward_gradient"}
    able = [order for order, transform in orders.items() if backend.supports(frozenset({transform}))]
    return Finding("gradient_orders", ("0", *able), "derivatives of the plain call")
