"""How a problem is drawn: a shape from the pool, a distribution, a seed and named option settings.

A recipe is small, hashable, simplifies well and stands in a replay command; ``problem()`` cooks it.
"""

import dataclasses
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from attnspec.specs.contract import DTYPES, SHAPE_FEATURES, shown
from attnspec.specs.problem import (
    Array,
    Problem,
    check_volume,
    numpy_dtype,
    parse_object,
    passing_generator,
    read_problem,
)
from attnspec.specs.settings import SETTINGS, Axes, ranked
from attnspec.specs.values import DISTRIBUTIONS, draw


@dataclass(frozen=True)
class Shape:
    """The seven sizes of a problem and its rank."""

    batch: int = 1
    heads: int = 1
    kv_heads: int = 1
    queries: int = 1
    keys: int = 1
    key_dim: int = 1
    value_dim: int = 1
    rank: int = 4

    @property
    def scores(self) -> int:
        """How many scores there are, B · Hq · L · S."""
        return self.batch * self.heads * self.queries * self.keys

    @property
    def axes(self) -> Axes:
        """What options range over."""
        return Axes(self.batch, self.heads, self.kv_heads, self.queries, self.keys)

    @property
    def features(self) -> frozenset[str]:
        """The words of LACKS that the shape asks for."""
        return Recipe(shape=self).problem().features & frozenset(SHAPE_FEATURES)


@dataclass(frozen=True)
class Recipe:
    """What is drawn; ``settings`` pairs options with names of their settings, in SETTINGS' order."""

    shape: Shape = Shape()
    dtype: str = "float32"
    values: str = "gaussian"
    seed: int = 0
    settings: tuple[tuple[str, str], ...] = ()

    def problem(self) -> Problem:
        """The problem; the same object each time, since it is read-only."""
        return _cook(self)

    def with_settings(self, **settings: str | None) -> "Recipe":
        """A copy with other option settings; None takes an option away."""
        merged = {**dict(self.settings), **settings}
        pairs = ((option, merged[option]) for option in SETTINGS if merged.get(option) is not None)
        return dataclasses.replace(self, settings=tuple(pairs))  # type: ignore[arg-type]  # None is filtered out

    def to_json(self) -> str:
        """One line of JSON that ``read_case`` takes; what is as in ``Recipe()`` is left out."""
        plainest, fields = Recipe(), dict[str, Any]()
        sizes = {field.name: getattr(self.shape, field.name) for field in dataclasses.fields(Shape)}
        fields["shape"] = {name: size for name, size in sizes.items() if size != getattr(plainest.shape, name)}
        for name in ("dtype", "values", "seed"):
            if getattr(self, name) != getattr(plainest, name):
                fields[name] = getattr(self, name)
        return json.dumps({**fields, **({"settings": dict(self.settings)} if self.settings else {})})


@lru_cache(maxsize=4096)
def _cook(recipe: Recipe) -> Problem:
    shape, dtype = recipe.shape, numpy_dtype(recipe.dtype)
    options: dict[str, Any] = {}
    for option, setting in recipe.settings:
        rng = passing_generator(recipe.seed, zlib.crc32(option.encode()))
        for name, value in SETTINGS[option][setting](shape.axes, rng, dtype).items():
            options[name] = ranked(name, value, shape.rank)

    def array(role: str, heads: int, length: int, width: int) -> Array:
        full = draw(recipe.values, recipe.seed, role, (shape.batch, heads, length, width)).astype(dtype)
        ranked_values: Array = full.reshape(full.shape[4 - shape.rank :])
        return ranked_values

    return Problem(
        array("query", shape.heads, shape.queries, shape.key_dim),
        array("key", shape.kv_heads, shape.keys, shape.key_dim),
        array("value", shape.kv_heads, shape.keys, shape.value_dim),
        options,
        recipe.seed,
        recipe,
    )


def read_case(text: str) -> Problem:
    """The problem in ``text``: a recipe's JSON or a problem's. ValueError says what is damaged."""
    data = parse_object(text, "problem")
    return read_problem(data) if "query" in data else read_recipe(data).problem()


def read_recipe(data: Mapping[str, Any]) -> Recipe:
    """A recipe from its decoded JSON object. ValueError says what is damaged."""
    unknown = set(data) - {"shape", "dtype", "values", "seed", "settings"}
    if unknown or not isinstance(data.get("shape", {}), Mapping) or not isinstance(data.get("settings", {}), Mapping):
        raise ValueError(f"problem: wanted shape, dtype, values, seed and settings, came {shown(sorted(data))}")
    recipe = Recipe(
        _read_shape(data.get("shape", {})),
        _known("dtype", data.get("dtype", "float32"), DTYPES),
        _known("values", data.get("values", "gaussian"), DISTRIBUTIONS),
        _count("seed", data.get("seed", 0)),
    )
    for option, setting in data.get("settings", {}).items():
        _known("settings", option, SETTINGS)
        recipe = recipe.with_settings(**{option: _known(f"settings[{option!r}]", setting, SETTINGS[option])})
    return recipe


def _known(field: str, word: Any, known: Any) -> str:
    if word not in tuple(known):
        raise ValueError(f"problem {field}: wanted one of {', '.join(known)}, came {shown(word)}")
    return str(word)


def _count(field: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**32:
        raise ValueError(f"problem {field}: wanted a whole number from 0 to 2**32 - 1, came {shown(value)}")
    return value


def _read_shape(data: Mapping[str, Any]) -> Shape:
    names = {field.name for field in dataclasses.fields(Shape)}
    if set(data) - names:
        raise ValueError(f"problem shape: wanted {', '.join(sorted(names))}, came {shown(sorted(data))}")
    shape = Shape(**{name: _count(f"shape {name}", size) for name, size in data.items()})
    outer = (shape.batch,) if shape.rank == 3 else (shape.batch, shape.heads, shape.kv_heads)
    if shape.rank not in (2, 3, 4) or (shape.rank < 4 and set(outer) != {1}):
        raise ValueError(f"problem shape: wanted rank 4, or 3 with batch 1, or 2 with batch and heads 1, came {shape}")
    if (shape.heads % shape.kv_heads if shape.kv_heads else shape.heads) != 0:
        raise ValueError(f"problem shape: wanted kv_heads that divide heads, came {shape.kv_heads} and {shape.heads}")
    check_volume(
        shape.batch, max(shape.heads, shape.kv_heads), shape.queries, shape.keys, shape.key_dim, shape.value_dim
    )
    return shape
