"""Influence: what a query does not see gets no gradient, unless scores overflow the type they are declared to be in."""

from types import ModuleType

import pytest

import attnspec
from attnspec.specs.catalogue import Violation, catalogue
from attnspec.specs.recipe import Recipe, Shape

torch = pytest.importorskip("torch")


def plain(query, key, value, *, is_causal=False):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if is_causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
    return torch.softmax(scores, -1) @ value


class Leaking(torch.autograd.Function):
    @staticmethod
    def forward(context, value):
        return value

    @staticmethod
    def backward(context, gradient):
        return gradient + 1


def leaking(query, key, value, *, is_causal=False):
    return plain(query, key, Leaking.apply(value), is_causal=is_causal)


def check(function, id, recipe):
    module = ModuleType("influenced")
    vars(module).update(ARRAYS="torch", attention=function)
    return catalogue()[id].check(attnspec.load(module), recipe.problem())


# the last keys of each are hidden from every query, or there is a query for each
SIZES = {"influence.gradients": (65, 63), "gradient.hidden_zero": (63, 65)}


@pytest.mark.parametrize(("id", "sizes"), SIZES.items())
def test_overflowing_scores_are_not_held_against_the_gradients(id, sizes):
    recipe = Recipe(Shape(1, 1, 1, *sizes, 136, 136), "float16", "far-below", 42, (("is_causal", "on"),))
    problem = recipe.problem()
    scores = torch.tensor(problem.query) @ torch.tensor(problem.key).mT
    assert torch.isinf(scores).all(-1).any(), "no score overflows"
    assert check(plain, id, recipe) == 0.0


def additive(query, key, value, *, mask=None):
    """Right, but where all scores of an empty row overflow: their softmax is NaN, and 0 · NaN its gradient."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is None:
        return torch.softmax(scores, -1) @ value
    weights = torch.softmax(scores + torch.where(mask, 0.0, -3e4).to(scores.dtype), -1)
    return torch.where(mask.any(-1, keepdim=True), weights, 0) @ value


@pytest.mark.parametrize(("values", "finite"), [("far-below", False), ("gaussian", True)])
def test_overflowing_scores_are_not_held_against_empty_rows(values, finite):
    recipe = Recipe(Shape(1, 2, 2, 7, 4, 3, 3), "float16", values, 151, (("mask", "holed-head"),))
    problem = recipe.problem()
    assert finite == bool(torch.isfinite(torch.tensor(problem.query) @ torch.tensor(problem.key).mT).all())
    assert check(additive, "gradient.empty_rows_finite", recipe) == 0.0


@pytest.mark.parametrize(
    ("id", "keys", "told"),
    [
        ("influence.gradients", 5, "wanted 0 at values that it does not see"),
        ("gradient.hidden_zero", 6, r"dvalue at \[0, 0, 5, 0\] wanted 0, came 1"),
    ],
)
def test_a_gradient_that_leaks_is_still_told(id, keys, told):
    recipe = Recipe(Shape(1, 1, 1, 5, keys, 4, 4), "float16", settings=(("is_causal", "on"),))
    assert check(plain, id, recipe) == 0.0
    with pytest.raises(Violation, match=told):
        check(leaking, id, recipe)
