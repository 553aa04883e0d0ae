"""Finding out what a backend can do, before it is held to anything: claims, and declared lacks.

Something claimed that raises would break every invariant in the same way. It is found here once, reported with the
LACKS entry that disclaims it, and the rest of the run goes on without it.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator

from attnspec.specs.backend import Backend, BackendError, Malformed
from attnspec.specs.catalogue import Violation
from attnspec.specs.contract import DEVICES, DTYPES, LENGTHS, OPTIONS, SHAPE_FEATURES, TRANSFORMS
from attnspec.specs.invariants.common import hold_result
from attnspec.specs.plan import PLAINEST, POOL, claimed, one_of_each_kind, plainest, plan, with_values
from attnspec.specs.recipe import Recipe, Shape
from attnspec.specs.settings import SETTINGS, VALUE_SETTINGS, keywords
from attnspec.specs.transforms import attempt
from attnspec.specs.values import DISTRIBUTIONS

Lack = frozenset[str]

EXTREME = LENGTHS | {"zero_size"}
"""Features of which every shape that has them is a kind."""


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
    except Malformed:
        return None
    except BackendError as error:
        return str(error)
    return None


def _useless(backend: Backend) -> str | None:
    """What is wrong with the answer to the plainest problem, if it raises or is not even of the right sizes."""
    try:
        backend.solve(plainest(backend).problem())
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


Recipes = Callable[[Backend], Iterable[Recipe]]


def missing_claims(backend: Backend, recipes: Recipes = plan) -> tuple[Backend, list[Finding]]:
    """The backend less what it claims but raises for, and each such thing once; ``recipes`` are those tried."""
    findings: list[Finding] = []
    while finding := next(_raising(backend, recipes), None):
        findings.append(finding)
        if not finding.lack:
            break
        backend = backend.assuming(lacks=backend.declaration.lacks | {finding.lack})
    return backend, findings


def _raising(backend: Backend, recipes: Recipes) -> Iterator[Finding]:
    if message := _useless(backend):
        yield Finding(frozenset(), plainest(backend), message)
        return
    for recipe in recipes(backend):
        if raised(backend, recipe):
            eager_too = not backend.runs_compiled(recipe.problem()) or raised_eagerly(backend, recipe)
            yield _narrowed(backend, recipe, frozenset() if eager_too else frozenset({"compile"}))
    for transform in TRANSFORMS:
        for recipe in _in_each_dtype(backend):
            asked = frozenset({transform})
            if backend.supports(recipe.problem().features | asked) and raised(backend, recipe, asked):
                yield _narrowed(backend, recipe, asked)


def _in_each_dtype(backend: Backend) -> Iterator[Recipe]:
    plain = plainest(backend)
    yield from (dataclasses.replace(plain, dtype=dtype) for dtype in backend.declaration.dtypes)


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
    lack = asked - plainest(backend).problem().features
    return Finding(_named(lack) or asked, recipe, message)


def _named(lack: Lack) -> Lack:
    """The lack in as few words as say it: options that raise together, or else what no other word implies."""
    options = lack & frozenset(OPTIONS)
    if len(options) > 1:
        return options
    implied = {VALUE_SETTINGS[word][0] for word in lack & VALUE_SETTINGS.keys()}
    if "zero_size" in lack:
        return lack - implied - (frozenset(SHAPE_FEATURES) - {"zero_size"})
    by_the_way = {word for length in lack & LENGTHS for word in shape_with(length).features - {length}}
    return lack - implied - by_the_way


def _simpler(backend: Backend) -> Iterator[Callable[[Recipe], Recipe]]:
    plain = plainest(backend)
    yield lambda recipe: dataclasses.replace(recipe, values=plain.values, seed=0)
    yield lambda recipe: dataclasses.replace(recipe, dtype=plain.dtype)
    yield lambda recipe: dataclasses.replace(recipe, shape=plain.shape)
    yield lambda recipe: dataclasses.replace(recipe, shape=_of_common_length(recipe.shape))
    for feature in SHAPE_FEATURES:
        yield lambda recipe, feature=feature: _reshaped(recipe, feature)  # type: ignore[misc]
    for option in claimed(backend):
        yield lambda recipe, option=option: recipe.with_settings(**{option: None})  # type: ignore[misc]


def _of_common_length(shape: Shape) -> Shape:
    """The shape with neither one key nor many, unless it has none: as many as queries, or one more if they differ."""
    if not LENGTHS & shape.features:
        return shape
    queries = max(shape.queries, 2)
    return dataclasses.replace(shape, queries=queries, keys=queries + (shape.keys != shape.queries))


def _reshaped(recipe: Recipe, feature: str) -> Recipe:
    """The recipe at the plain shape with only ``feature``, if its shape asks for that one."""
    if feature not in recipe.shape.features:
        return recipe
    return dataclasses.replace(recipe, shape=shape_with(feature))


def idle_lacks(backend: Backend) -> Iterator[tuple[str, Recipe, str]]:
    """Declared lacks that are none: the entry, a recipe that shows it, and what came instead of an error.

    A lack raises somewhere, and where it does not it is right: it is never ignored in silence.
    """
    for lack in sorted((lack for lack in backend.declaration.lacks if here(backend, lack)), key=sorted):
        answers = [(_answer(backend, lack, recipe), recipe) for recipe in recipes_with(backend, lack)]
        results = [(came, recipe) for came, recipe in answers if came is not None]
        wrong = [result for result in results if result[0] != RIGHT]
        for came, recipe in (wrong or (results if len(results) == len(answers) else []))[:1]:
            yield "+".join(sorted(lack)), recipe, came


def here(backend: Backend, features: Lack) -> bool:
    """Whether the features are about the backend's device, or about any."""
    return features & set(DEVICES) <= {backend.device}


RIGHT = "a right result"


def _answer(backend: Backend, lack: Lack, recipe: Recipe) -> str | None:
    """What came for a recipe that is declared lacking: None is an error."""
    able, transforms = backend.assuming(lacks=backend.declaration.lacks - {lack}), lack & frozenset(TRANSFORMS)
    if raised(able, recipe, transforms):
        return None
    if not transforms:
        try:
            hold_result(able, recipe.problem(), able.solve(recipe.problem()))
        except (Violation, Malformed) as error:
            return f"a wrong result: {error}"
    return RIGHT


def recipes_with(backend: Backend, features: Lack) -> list[Recipe]:
    """Plain recipes that ask for all ``features``, one for each kind of shape; none if the backend cannot be asked.

    Of extreme sizes every one is a kind: a function may well have rows without keys but not a value without width.
    """
    able = backend.claiming(features)
    recipe, transforms = plainest(backend), features & frozenset(TRANSFORMS)
    for option, settings in SETTINGS.items():
        if keywords(option) & features:
            recipe = recipe.with_settings(**{option: next(iter(settings))})
    for dtype in features & frozenset(DTYPES):
        recipe = dataclasses.replace(recipe, dtype=dtype)
    variants, found = [recipe], []
    for word in features & set(VALUE_SETTINGS):
        option, *names = VALUE_SETTINGS[word]
        variants = [variant.with_settings(**{option: name}) for variant in variants for name in names]
    shapes = [shape for shape in POOL if able.supports(shape.features)]
    extreme = (shape for shape in shapes if EXTREME & features & shape.features)
    for shape in dict.fromkeys((recipe.shape, *one_of_each_kind(shapes), *extreme)):
        for variant in variants:
            candidate = dataclasses.replace(variant, shape=shape)
            asked = candidate.problem().features | transforms
            if features <= asked | {backend.device} and able.supports(asked):
                found.append(candidate)
    return found


def aside_from(recipe: Recipe, features: Lack) -> Recipe:
    """The recipe without the options that ``features`` name, and in the plain shape if they are about shapes."""
    for option, _ in recipe.settings:
        if keywords(option) & features:
            recipe = recipe.with_settings(**{option: None})
    return dataclasses.replace(recipe, shape=PLAINEST.shape) if features & set(SHAPE_FEATURES) else recipe


def otherwise_set(backend: Backend, recipe: Recipe) -> Iterator[Recipe]:
    """The recipe with other numbers, such as equal ones, and with each other setting of each option, such as a mask
    that leaves a row without keys.
    """
    numbered = enumerate(DISTRIBUTIONS, recipe.seed + 1)
    yield from (with_values(recipe, values, seed) for seed, values in numbered)
    for option in claimed(backend):
        for name in SETTINGS[option]:
            other = recipe.with_settings(**{option: name})
            if other != recipe and backend.supports(other.problem().features):
                yield other
