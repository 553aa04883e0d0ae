"""Which problems a run is sure to see: shapes from one pool, and every pair of claimed options together.

A covering array in the manner of AETG (Cohen et al. 1997): each row is built greedily around a pair not yet seen.
"""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from attnspec.specs.backend import Backend
from attnspec.specs.contract import LENGTHS
from attnspec.specs.recipe import Recipe, Shape
from attnspec.specs.settings import SETTINGS, keywords
from attnspec.specs.values import DISTRIBUTIONS

POOL: tuple[Shape, ...] = (
    Shape(1, 2, 2, 3, 3, 2, 2),
    Shape(2, 3, 3, 5, 5, 4, 4),
    Shape(2, 2, 2, 3, 5, 4, 4),
    Shape(1, 2, 2, 7, 4, 3, 3),
    Shape(2, 2, 2, 5, 5, 4, 1),
    Shape(2, 6, 2, 4, 7, 8, 5),
    Shape(6, 6, 3, 6, 6, 4, 4),
    Shape(2, 3, 1, 1, 6, 5, 5),
    Shape(1, 1, 1, 1, 1, 1, 1),
    Shape(3, 1, 1, 2, 1, 3, 2),
    Shape(1, 2, 2, 4, 4, 3, 3, rank=3),
    Shape(1, 2, 2, 4, 6, 4, 4, rank=3),
    Shape(1, 4, 2, 5, 3, 3, 4, rank=3),
    Shape(1, 1, 1, 4, 4, 3, 3, rank=2),
    Shape(1, 2, 2, 17, 33, 16, 16),
    Shape(1, 2, 1, 31, 31, 8, 16),
    Shape(1, 1, 1, 2, 1100, 8, 8),
    Shape(1, 1, 1, 65, 63, 136, 136),
    Shape(1, 9, 9, 3, 6, 4, 4),
    Shape(1, 2, 2, 130, 385, 7, 5),
    Shape(0, 2, 2, 3, 3, 2, 2),
    Shape(1, 2, 2, 0, 3, 2, 2),
    Shape(1, 2, 2, 3, 0, 2, 2),
    Shape(2, 2, 2, 3, 4, 0, 2),
    Shape(1, 2, 2, 3, 3, 2, 0),
)
"""All sizes a run uses, beside those that an invariant cuts from them. Symmetric sizes hide faults, so few are."""

Level = tuple[str, object]
Pair = tuple[Level, Level]

PLAINEST = Recipe(Shape(1, 2, 2, 3, 3, 2, 2), values="small-integers")
"""The problem that any backend must be able to answer."""


def plainest(backend: Backend) -> Recipe:
    """PLAINEST in a dtype that the backend takes."""
    dtypes = backend.declaration.dtypes
    return PLAINEST if PLAINEST.dtype in dtypes else dataclasses.replace(PLAINEST, dtype=dtypes[0])


def claimed(backend: Backend) -> tuple[str, ...]:
    """The options of SETTINGS that the backend claims, in order."""
    return tuple(option for option in SETTINGS if keywords(option) <= backend.options)


def plan(backend: Backend) -> tuple[Recipe, ...]:
    """Recipes with each pair of options, dtype and option, shape and option, each shape, each option's settings alone,
    each dtype without options.

    Where every new combination must be compiled, options meet one shape of each kind instead of each shape, and none
    is alone.
    """
    rows = list(_cover(backend))
    off = {**rows[0], **dict.fromkeys(claimed(backend), False)}
    met = {row["shape"] for row in rows}
    rows += [{**off, "shape": shape} for shape in _shapes(backend) if shape not in met]
    seen: Counter[tuple[str, ...]] = Counter()
    recipes = []
    for number, row in enumerate(rows):
        recipe = Recipe(_shape(row), str(row["dtype"]), _values(number), number)
        for option in (option for option in claimed(backend) if row[option]):
            recipe = _with_rarest(recipe, option, seen)
        recipes.append(_hiding(_within(backend, recipe)))
    if not backend.arrays.RUNS_COMPILED:
        recipes += _unmet(backend, recipes)
        recipes += _alone(backend, [shape for shape in _shapes(backend) if "zero_size" not in shape.features])
    recipes += _bare(backend)
    return tuple(dict.fromkeys(recipes))


def _hiding(recipe: Recipe) -> Recipe:
    """The recipe with a mask that hides something: over one key those that leave each row a key hide nothing."""
    return recipe.with_settings(mask="holed") if recipe.shape.keys == 1 and "mask" in dict(recipe.settings) else recipe


TELLING = ("gaussian", "uniform")
"""Distributions under which hardly anything goes unseen."""


def _values(number: int) -> str:
    """The distribution of a plan's row: every second one hides little, the others take turns."""
    return TELLING[number // 2 % 2] if number % 2 else list(DISTRIBUTIONS)[number // 2 % len(DISTRIBUTIONS)]


def _alone(backend: Backend, shapes: Sequence[Shape]) -> Iterator[Recipe]:
    """Each setting of each option without any other option, in numbers that hide little."""
    settings = [(option, name) for option in claimed(backend) for name in SETTINGS[option]]
    for number, (setting, shape) in enumerate(zip(settings, itertools.cycle(shapes[::-1]), strict=False)):
        row = dataclasses.replace(plainest(backend), shape=shape, values=TELLING[number % 2], seed=number)
        row = row.with_settings(**dict([setting]))
        if backend.supports(row.problem().features):
            yield row


def _bare(backend: Backend) -> Iterator[Recipe]:
    """A plain shape in each dtype without any option: some kernels go another way if there is none."""
    for number, dtype in enumerate(_factors(backend)["dtype"]):
        yield dataclasses.replace(plainest(backend), dtype=str(dtype), values="gaussian", seed=number)


def _unmet(backend: Backend, recipes: Sequence[Recipe]) -> Iterator[Recipe]:
    """Recipes of a plain shape in which the pairs of settings meet that have not met in ``recipes``."""
    met = {pair for recipe in recipes for pair in itertools.combinations(recipe.settings, 2)}
    settings = [(option, name) for option in claimed(backend) for name in SETTINGS[option]]
    unmet = {pair for pair in itertools.combinations(settings, 2) if pair[0][0] != pair[1][0]} - met
    for number, pair in enumerate(pair for pair in itertools.combinations(settings, 2) if pair in unmet):
        row = with_values(plainest(backend), list(DISTRIBUTIONS)[1 + number % 3], number)
        row = row.with_settings(**dict(pair))
        for option, name in settings:
            wider = row.with_settings(**{option: name})
            new = {pair for pair in itertools.combinations(wider.settings, 2) if pair in unmet}
            fits = option not in dict(row.settings) and len(row.settings) < MOST
            if fits and len(new) > len(row.settings) - 1 and backend.supports(wider.problem().features):
                row = wider
        if backend.supports(row.problem().features):
            unmet -= set(itertools.combinations(row.settings, 2))
            yield row


def _with_rarest(recipe: Recipe, option: str, seen: Counter[tuple[str, ...]]) -> Recipe:
    """The recipe with that setting of the option which has met the recipe's other settings least often."""

    def pairs(name: str) -> list[tuple[str, ...]]:
        return [(option, name), *((option, name, *setting) for setting in recipe.settings)]

    rarest = min(SETTINGS[option], key=lambda name: sum(seen[pair] for pair in pairs(name)))
    seen.update(pairs(rarest))
    return recipe.with_settings(**{option: rarest})


def _within(backend: Backend, recipe: Recipe) -> Recipe:
    """The recipe with the first setting of each option whose own settings ask for something lacking."""
    for option, _ in recipe.settings:
        if not backend.supports(recipe.problem().features):
            recipe = recipe.with_settings(**{option: next(iter(SETTINGS[option]))})
    return recipe


def _shape(row: dict[str, object]) -> Shape:
    shape = row["shape"]
    assert isinstance(shape, Shape)
    return shape


def _cover(backend: Backend) -> Iterator[dict[str, object]]:
    factors = _factors(backend)
    uncovered = dict.fromkeys(_pairs(backend, factors))
    used: Counter[Level] = Counter()
    while uncovered:
        row = dict(next(iter(uncovered)))
        for name, levels in factors.items():
            if name not in row:
                row[name] = _best(backend, row, name, levels, uncovered, used)
        ordered = [(name, row[name]) for name in factors]
        used.update(ordered)
        for pair in itertools.combinations(ordered, 2):
            uncovered.pop(pair, None)
        yield row


def _shapes(backend: Backend) -> list[Shape]:
    return [shape for shape in POOL if backend.supports(shape.features)]


def _factors(backend: Backend) -> dict[str, Sequence[object]]:
    dtypes = [dtype for dtype in backend.declaration.dtypes if backend.supports(frozenset({dtype}))]
    options = dict.fromkeys(claimed(backend), (True, False))
    return {"shape": _shapes(backend), "dtype": dtypes, **options}


def _pairs(backend: Backend, factors: dict[str, Sequence[object]]) -> Iterator[Pair]:
    """The pairs to be seen. Shapes meet each option; only long ones meet each dtype: there rounding shows."""
    some = one_of_each_kind(_shapes(backend)) if backend.arrays.RUNS_COMPILED else _shapes(backend)
    for first, second in itertools.combinations(factors, 2):
        if (first, second) == ("shape", "dtype"):
            met = [factors[first][0], *(shape for shape in _shapes(backend) if "long_rows" in shape.features)]
            yield from (((first, shape), (second, b)) for shape in met for b in factors[second])
            continue
        for a, b in itertools.product(factors[first], factors[second]):
            if (first == "shape" and a not in some) or (b is False and a is not True):
                continue
            if backend.supports(_features({first: a, second: b})):
                yield (first, a), (second, b)


def one_of_each_kind(shapes: Sequence[Shape]) -> list[Shape]:
    """The first shape for each set of features; the number of keys makes no kind."""
    return list({shape.features - LENGTHS: shape for shape in reversed(shapes)}.values())


def _features(row: dict[str, object]) -> frozenset[str]:
    features: set[str] = set()
    for name, level in row.items():
        if isinstance(level, Shape):
            features |= level.features
        elif name == "dtype":
            features.add(str(level))
        elif level:
            features |= keywords(name)
    return frozenset(features)


MOST, MOST_COMPILED = 5, 7
"""Options in one row at most: many ways to hide keys, taken together, leave too little to see.

More where each row is compiled, so that there are fewer rows.
"""


def _best(
    backend: Backend,
    row: dict[str, object],
    name: str,
    levels: Sequence[object],
    uncovered: dict[Pair, None],
    used: Counter[Level],
) -> object:
    """The level with the most pairs not yet seen; no option without one."""

    def gain(level: object) -> tuple[int, bool, int]:
        new = ((other, (name, level)) for other in row.items())
        seen = sum(pair in uncovered or pair[::-1] in uncovered for pair in new)
        return seen, level is False, -used[name, level]

    full = sum(level is True for level in row.values()) >= (MOST_COMPILED if backend.arrays.RUNS_COMPILED else MOST)
    allowed = [level for level in levels if backend.supports(_features({**row, name: level}))]
    return max([level for level in allowed if not (full and level is True)] or levels[-1:], key=gain)


def with_values(recipe: Recipe, values: str, seed: int) -> Recipe:
    """The same shape, dtype and options with other numbers: what a JIT has compiled already."""
    return dataclasses.replace(recipe, values=values, seed=seed)
