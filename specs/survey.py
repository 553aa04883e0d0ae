"""Finding out what a backend can do, before it is held to anything: claims, and declared lacks.

Something claimed that raises would break every invariant in the same way. It is found here once, reported with the
LACKS entry that disclaims it, and the rest of the run goes on without it.
"""

import dataclasses
from collections.abc import Callable, Iterator

from attnspec.specs.backend import Backend, BackendError
from attnspec.specs.contract import DTYPES, SHAPE_FEATURES, TRANSFORMS
from attnspec.specs.plan import PLAINEST, POOL, claimed, plan
from attnspec.specs.recipe import Recipe, Shape
from attnspec.specs.settings import SETTINGS, keywords
from attnspec.specs.transforms import attempt

Lack = frozenset[str]


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something claimed that raises, the recipe that shows it and what was raised."""

    lack: Lack
    recipe: Recipe
    message: str

    @property
    def entry(self) -> str:
        """The LACKS entry, such as "mask+is_causal"."""
        return "+".join(sorted(self.lack))


def raised(backend: Backend, recipe: Recipe, transforms: Lack = frozenset()) -> str | None:
    """What the backend raises for the recipe, or None."""
    try:
        attempt(backend, recipe.problem(), transforms)
    except BackendError as error:
        return str(error)
    return None


def raised_eagerly(backend: Backend, recipe: Recipe) -> bool:
    """Whether the backend raises for the recipe without the library's compiler too."""
    try:
        backend.solve(recipe.problem(), compiled=False)
    except BackendError:
        return True
    return False


def missing_claims(backend: Backend) -> tuple[Backend, list[Finding]]:
    """The backend less what it claims but raises for, and each such thing once."""
    findings: list[Finding] = []
    while finding := next(_raising(backend), None):
        findings.append(finding)
        if not finding.lack:
            break
        backend = backend.assuming(lacks=backend.declaration.lacks | {finding.lack})
    return backend, findings


def _raising(backend: Backend) -> Iterator[Finding]:
    if message := raised(backend, _plainest(backend)):
        yield Finding(frozenset(), _plainest(backend), message)
        return
    for recipe in plan(backend):
        if raised(backend, recipe):
            eager_too = not backend.runs_compiled(recipe.problem()) or raised_eagerly(backend, recipe)
            yield _narrowed(backend, recipe, frozenset() if eager_too else frozenset({"compile"}))
    for transform in TRANSFORMS:
        for recipe in _in_each_dtype(backend):
            asked = frozenset({transform})
            if backend.supports(recipe.problem().features | asked) and raised(backend, recipe, asked):
                yield _narrowed(backend, recipe, asked)


def _plainest(backend: Backend) -> Recipe:
    dtypes = backend.declaration.dtypes
    return PLAINEST if PLAINEST.dtype in dtypes else dataclasses.replace(PLAINEST, dtype=dtypes[0])


def _in_each_dtype(backend: Backend) -> Iterator[Recipe]:
    plainest = _plainest(backend)
    yield from (dataclasses.replace(plainest, dtype=dtype) for dtype in backend.declaration.dtypes)


def shape_with(feature: str) -> Shape:
    """The first shape of the pool that asks for ``feature`` and as little else as can be."""
    return min((s for s in POOL if feature in s.features), key=lambda s: len(s.features))


def _narrowed(backend: Backend, recipe: Recipe, transforms: Lack) -> Finding:
    """The finding at ``recipe`` with everything taken away that it does not need to raise."""
    for simpler in _simpler(backend):
        candidate = simpler(recipe)
        if raised(backend, candidate, transforms):
            recipe = candidate
    message = raised(backend, recipe, transforms) or ""
    asked = recipe.problem().features | transforms
    lack = asked - _plainest(backend).problem().features
    return Finding(lack or asked, recipe, message)


def _simpler(backend: Backend) -> Iterator[Callable[[Recipe], Recipe]]:
    plainest = _plainest(backend)
    yield lambda recipe: dataclasses.replace(recipe, values=plainest.values, seed=0)
    yield lambda recipe: dataclasses.replace(recipe, dtype=plainest.dtype)
    yield lambda recipe: dataclasses.replace(recipe, shape=plainest.shape)
    for feature in SHAPE_FEATURES:
        yield lambda recipe, feature=feature: _reshaped(recipe, feature)  # type: ignore[misc]
    for option in claimed(backend):
        yield lambda recipe, option=option: recipe.with_settings(**{option: None})  # type: ignore[misc]


def _reshaped(recipe: Recipe, feature: str) -> Recipe:
    """The recipe at the plainest shape with only ``feature``, if its shape asks for that one."""
    if feature not in recipe.shape.features:
        return recipe
    return dataclasses.replace(recipe, shape=shape_with(feature))


def idle_lacks(backend: Backend) -> Iterator[tuple[str, Recipe]]:
    """Declared lacks that do not raise: the entry, and the recipe that went through."""
    for lack in sorted(backend.declaration.lacks, key=sorted):
        recipe = _recipe_with(backend, lack)
        unreachable = (lack & frozenset(TRANSFORMS)) - backend.arrays.TRANSFORMS
        if recipe is None or unreachable:
            continue
        without = backend.assuming(lacks=backend.declaration.lacks - {lack})
        if raised(without, recipe, lack & frozenset(TRANSFORMS)) is None:
            yield "+".join(sorted(lack)), recipe


def _recipe_with(backend: Backend, lack: Lack) -> Recipe | None:
    """A plain recipe that asks for everything in ``lack``; None if the suite cannot ask for it."""
    recipe = _plainest(backend)
    for option in SETTINGS:
        if keywords(option) & lack:
            recipe = recipe.with_settings(**{option: next(iter(SETTINGS[option]))})
    for dtype in lack & frozenset(DTYPES):
        recipe = dataclasses.replace(recipe, dtype=dtype)
    wanted = lack & frozenset(SHAPE_FEATURES)
    shapes = [s for s in POOL if wanted <= s.features] if wanted else [recipe.shape]
    if not shapes:
        return None
    recipe = dataclasses.replace(recipe, shape=min(shapes, key=lambda s: len(s.features)))
    asked = recipe.problem().features | (lack & frozenset(TRANSFORMS))
    return recipe if lack <= asked else None
