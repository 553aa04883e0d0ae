"""The shortest JSON of a problem: its recipe's, if it was cooked from one."""

import itertools
from collections.abc import Iterator

from attnspec.crumb import fingerprint
from attnspec.specs.problem import Problem
from attnspec.specs.recipe import Recipe, Shape
from attnspec.specs.settings import SETTINGS, keywords
from attnspec.specs.values import DISTRIBUTIONS


def to_json(problem: Problem) -> str:
    """One line of JSON that gives the problem back."""
    wanted = fingerprint(problem)
    found = (recipe for recipe in _recipes(problem) if fingerprint(recipe.problem()) == wanted)
    recipe = next(found, None)
    return problem.to_json() if recipe is None else recipe.to_json()


def _recipes(problem: Problem) -> Iterator[Recipe]:
    """Every recipe with the problem's sizes, dtype, seed and options."""
    shape = Shape(*problem.shape, rank=problem.query.ndim)
    options = [option for option in SETTINGS if keywords(option) <= set(problem.options)]
    for names in itertools.product(DISTRIBUTIONS, *(SETTINGS[option] for option in options)):
        recipe = Recipe(shape, problem.dtype, names[0], problem.seed)
        yield recipe.with_settings(**dict(zip(options, names[1:], strict=True)))
