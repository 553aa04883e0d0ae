"""Blockwise backends with tiles so small that the problems of the pool have many: at edges, within, and skipped."""

import importlib

import pytest

from attnspec.loading import load
from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import catalogue
from attnspec.specs.recipe import Recipe, Shape

SMALL = {"torch": {"QUERIES": 16, "WIDE": 24, "NARROW": 8}, "jax": {"QUERIES": 16, "KEYS": 8}}
BACKENDS = ("torch_blockwise", "jax_blockwise")
RECIPE = Recipe(Shape(2, 4, 2, 67, 75, 5, 3), "float64", "gaussian", 3)


@pytest.fixture(params=BACKENDS)
def backend(request, monkeypatch) -> Backend:
    library = request.param.partition("_")[0]
    pytest.importorskip(library)
    parts = importlib.import_module(f"attnspec.impls.blockwise.{library}")
    for name, size in SMALL[library].items():
        monkeypatch.setattr(parts, name, size)
    return load(request.param)


HIDING = {
    "nothing": {},
    "causal": {"is_causal": True},
    "window": {"window": (9, 3)},
    "wide window": {"window": (40, 33)},
    "causal window": {"is_causal": True, "window": (20, None)},
}
OPTIONS = {
    "bias": {"bias": "hiding", "softcap": "two"},
    "mask": {"mask": "heads", "is_causal": "on"},
    "lengths": {"key_lengths": "ragged", "sinks": "gaussian"},
    "segments": {"segments": "packed", "is_causal": "on"},
}
PROBLEMS = {
    **{name: RECIPE.problem().with_options(**options) for name, options in HIDING.items()},
    **{name: RECIPE.with_settings(**settings).problem() for name, settings in OPTIONS.items()},
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("id", ["definition.output", "gradient.oracle"])
def test_many_tiles(backend, name, id):
    assert catalogue()[id].check(backend, PROBLEMS[name]) <= 1


@pytest.mark.parametrize("settings", [{"bias": "full"}, {"bias": "keys"}, {"sinks": "gaussian"}])
def test_gradients_of_options_over_many_tiles(backend, settings):
    assert catalogue()["derivative.options"].check(backend, RECIPE.with_settings(**settings).problem()) <= 1


@pytest.mark.parametrize("id", ["definition.lse", "derivative.lse"])
def test_lse_over_many_tiles(backend, id):
    settings = {"bias": "hiding", "sinks": "gaussian", "return_lse": "on"}
    assert catalogue()[id].check(backend, RECIPE.with_settings(**settings).problem()) <= 1


def test_the_gradient_of_a_scale_that_jax_traces():
    """By differences: the oracle's gradients are those of arrays."""
    jax = pytest.importorskip("jax")
    attention, problem = load("jax_blockwise").function, RECIPE.problem()

    def loss(scale):
        return (attention(problem.query, problem.key, problem.value, scale=scale) ** 2).sum()

    step = 1e-5
    wanted = (loss(0.3 + step) - loss(0.3 - step)) / (2 * step)
    assert jax.grad(loss)(0.3) == pytest.approx(wanted, rel=1e-6)


def test_hidden_tiles_are_skipped():
    """Causal attention looks at little more than half of the scores."""
    pytest.importorskip("torch")
    parts = importlib.import_module("attnspec.impls.blockwise.torch")
    plan = parts.Plan(2048, 2048, 4096, 0, 0.0)
    sizes = ((rows, keys) for rows in plan.blocks() for keys, _ in plan.tiles(rows))
    looked = sum((rows.stop - rows.start) * (keys.stop - keys.start) for rows, keys in sizes)
    assert 0.5 < looked / 2048**2 < 0.57
