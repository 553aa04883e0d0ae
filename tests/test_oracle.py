"""The oracle against the definition in 50 digits, and faults planted in the oracle that this comparison must see."""

import dataclasses
import itertools
from functools import cache

import mpmath_attention
import numpy as np
import pytest

from attnspec.specs import oracle
from attnspec.specs.contract import CONVENTIONS, default_conventions
from attnspec.specs.oracle import Solution
from attnspec.specs.problem import lifted
from attnspec.specs.recipe import Recipe, Shape
from attnspec.specs.settings import SETTINGS
from attnspec.specs.values import DISTRIBUTIONS

UNIT = 2.0**-53

SHAPES = (
    Shape(1, 2, 2, 3, 3, 2, 2),
    Shape(2, 2, 2, 3, 5, 2, 3),
    Shape(1, 2, 2, 5, 3, 3, 2),
    Shape(1, 6, 2, 2, 4, 2, 1),
    Shape(2, 4, 2, 3, 4, 1, 2),
    Shape(1, 6, 3, 4, 4, 2, 2),
    Shape(1, 4, 2, 4, 3, 2, 2, rank=3),
    Shape(1, 1, 1, 4, 5, 2, 3, rank=2),
    Shape(2, 1, 1, 1, 6, 2, 2),
    Shape(2, 2, 2, 3, 4, 0, 2),
)
"""Small, and none of their sizes alike where it would hide a fault."""

SWITCHED = ("causal_alignment", "empty_row", "empty_row_bias", "softcap_order", "window", "gqa_map", "empty_row_lse")
"""The conventions that change the oracle's own numbers."""

FEW = 4
"""Options a recipe: with all of them at once hardly a key stays visible."""


def _recipes():
    """Sixty recipes in which every pair of options occurs, under conventions that turn independently."""
    rng = np.random.RandomState(0)
    seen = dict.fromkeys(itertools.combinations(SETTINGS, 2), 0)
    telling = {name: [s for s in settings if s != "lowest"] for name, settings in SETTINGS.items()}
    values = {name: itertools.cycle(settings) for name, settings in telling.items()}  # beside it all digits go
    for number in range(60):
        options = list(min(seen, key=seen.__getitem__))
        while len(options) < FEW:
            rest = [name for name in SETTINGS if name not in options]
            rng.shuffle(rest)
            options.append(min(rest, key=lambda name: sum(seen[_pair(name, other)] for other in options)))
        for pair in itertools.combinations(options, 2):
            seen[_pair(*pair)] += 1
        settings = {name: next(values[name]) for name in options}
        distribution = list(DISTRIBUTIONS)[number % len(DISTRIBUTIONS)]
        recipe = Recipe(SHAPES[number * 3 % len(SHAPES)], "float64", distribution, number)
        yield recipe.with_settings(**settings), _conventions(rng)


def _pair(a, b):
    return (a, b) if list(SETTINGS).index(a) < list(SETTINGS).index(b) else (b, a)


def _conventions(rng):
    chosen = {name: CONVENTIONS[name][rng.randint(len(CONVENTIONS[name]))] for name in SWITCHED}
    return {**default_conventions(), **chosen}


def _bias_empties():
    """Rows that a −inf bias alone empties, which no setting makes."""
    recipe = Recipe(Shape(1, 2, 2, 3, 4, 2, 2), "float64", "gaussian", 1)
    bias = np.zeros((3, 4))
    bias[1] = -np.inf
    for by_mask, by_bias in itertools.permutations(CONVENTIONS["empty_row"], 2):
        conventions = {**default_conventions(), "empty_row": by_mask, "empty_row_bias": by_bias}
        yield recipe.problem().with_options(bias=bias, return_lse=True), conventions
        yield recipe.problem().with_options(bias=bias, mask=np.array([True, True, True, False])), conventions
        yield recipe.problem().with_options(bias=bias, sinks=np.array([0.5, -1.0])), conventions
    capped = recipe.problem().with_options(bias=bias, softcap=2.0)
    yield capped, {**default_conventions(), "softcap_order": "after-bias"}


def _no_keys():
    problem = Recipe(Shape(1, 2, 2, 3, 0, 2, 2), "float64").problem()
    for convention in CONVENTIONS["empty_row"]:
        yield problem, {**default_conventions(), "empty_row": convention}
        yield problem.with_options(sinks=np.array([0.5, -1.0])), {**default_conventions(), "empty_row": convention}


QUESTIONS = [*((recipe.problem(), conventions) for recipe, conventions in _recipes()), *_bias_empties(), *_no_keys()]


@cache
def cases():
    """Every comparison, with the exact answer."""
    return [Case(problem, conventions) for problem, conventions in QUESTIONS]


class Case:
    """One problem, its answer in 50 digits and what float64 may differ from that."""

    def __init__(self, problem, conventions):
        self.problem, self.conventions = problem, conventions
        exact = mpmath_attention.Exact(problem, conventions)
        self.weights, self.output, self.lse = exact.solve()
        self.determined = exact.determined()
        self.cotangent = problem.rng.standard_normal(self.output.shape)
        self.derivatives = list(self._some_derivatives(exact))

    def _some_derivatives(self, exact):
        """(name, index, derivative) of three elements each of query, key and value."""
        rng = np.random.RandomState(self.problem.seed)
        if not self.determined.all() or np.isnan(self.output).any():
            return
        for name in ("query", "key", "value"):
            shape = lifted(getattr(self.problem, name)).shape
            places = list(np.ndindex(shape))
            for pick in rng.permutation(len(places))[:3]:
                yield name, places[pick], exact.derivative(self.cotangent, name, places[pick])

    def magnitudes(self):
        """(relative error a row (B, Hq, L), Σ p·|v|, and the magnitudes of the three gradients)."""
        problem = self.problem
        query, key, value = (np.abs(lifted(getattr(problem, name))) for name in ("query", "key", "value"))
        key, value = (a[:, Solution(problem, self.conventions).kv_head] for a in (key, value))
        *_, queries, keys, key_dim, _ = problem.shape
        scale = abs(problem.options.get("scale") or 1 / np.sqrt(max(key_dim, 1)))
        size = scale * query @ key.swapaxes(-1, -2)
        if "bias" in problem.options:
            bias = np.abs(lifted(problem.options["bias"]))
            size = size + np.where(np.isfinite(bias), bias, 0)
        if "alibi_slopes" in problem.options:
            size = size + problem.options["alibi_slopes"][:, None, None] * (queries + keys)
        sinks = np.abs(problem.options.get("sinks", np.zeros(1)))[:, None]
        largest = size.max(-1, initial=0.0) + sinks
        relative = (2 * (key_dim + 16) * largest + keys + 32) * UNIT
        weights = np.nan_to_num(self.weights)
        into_weights = np.abs(self.cotangent) @ value.swapaxes(-1, -2)
        into_scores = weights * (into_weights + (weights * into_weights).sum(-1, keepdims=True))
        into_scores = 4 * scale * relative[..., None] * into_scores
        gradients = {
            "query": into_scores @ key,
            "key": into_scores.swapaxes(-1, -2) @ query,
            "value": 4 * (relative[..., None] * weights).swapaxes(-1, -2) @ np.abs(self.cotangent),
        }
        return relative, weights @ value, gradients


def off(came, wanted, allowed):
    """Where ``came`` is not ``wanted`` within ``allowed``; NaN is only NaN, an infinity only itself."""
    with np.errstate(invalid="ignore"):
        near = np.abs(came - wanted) <= allowed
    return ~(near | (came == wanted) | (np.isnan(came) & np.isnan(wanted)))


def disagreement(case):
    """What of the oracle's answer is wrong, or None."""
    solution = Solution(case.problem, case.conventions)
    relative, mixed, gradients = case.magnitudes()
    rows, smallest = case.determined, 1e-300
    allowed = relative[..., None]
    if off(solution.weights, case.weights, allowed * np.nan_to_num(case.weights) + smallest)[rows].any():
        return "weights"
    if off(solution.output, case.output, allowed * mixed + smallest)[rows].any():
        return "output"
    finite = np.where(np.isfinite(case.lse), np.abs(case.lse), 0)
    if off(solution.lse, case.lse, relative + 8 * UNIT * finite)[rows].any():
        return "lse"
    if case.derivatives:
        came = dict(zip(("query", "key", "value"), solution.gradients(case.cotangent), strict=True))
        for name, index, wanted in case.derivatives:
            size = solution.per_kv_head(gradients[name]) if name != "query" else gradients[name]
            if off(came[name][index], wanted, size[index] + 1e-100).any():
                return f"gradient of {name}"
    return None


def failing():
    """The first case on which the oracle is wrong, and in what; None if it is right throughout."""
    for case in cases():
        if wrong := disagreement(case):
            return case, wrong
    return None


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_oracle_is_the_definition(number):
    case = cases()[number]
    assert disagreement(case) is None, (case.problem.features, case.conventions)


def test_every_pair_of_options_is_compared():
    seen = set()
    for recipe, _ in _recipes():
        seen |= set(itertools.combinations([name for name, _ in recipe.settings], 2))
    assert seen == set(itertools.combinations(SETTINGS, 2))


@pytest.mark.parametrize(("name", "value"), [(n, v) for n in SWITCHED for v in CONVENTIONS[n]])
def test_every_convention_value_matters(name, value):
    """Some case holds under the value and would be another under each other value."""
    for other in set(CONVENTIONS[name]) - {value, "lowest"}:
        if (name, value) == ("empty_row_lse", "lowest"):
            continue
        assert any(
            case.conventions[name] == value and disagreement(_under(case, name, other)) is not None for case in cases()
        ), f"{name}: {value} is never told from {other}"


def _under(case, name, value):
    """The case with its answer kept and another convention declared."""
    changed = object.__new__(Case)
    changed.__dict__.update(case.__dict__, conventions={**case.conventions, name: value})
    return changed


def _prop(function):
    """A property in place of a cached one: computed anew, from a faulty definition."""
    return property(function)


ORIGINAL = {name: vars(Solution)[name] for name in ("scale", "visible", "kv_head", "weights", "lse", "scores")}


def original(name, solution):
    return ORIGINAL[name].func(solution)


def narrowed(name, **changes):
    """The named attribute of the same problem under other conventions or options."""

    def fault(solution):
        conventions = {**solution.conventions, **changes}
        return original(name, dataclasses.replace(solution, conventions=conventions))

    return fault


def without(name, *options):
    def fault(solution):
        return original(name, dataclasses.replace(solution, problem=_stripped(solution.problem, options)))

    return fault


def _stripped(problem, options):
    return problem.with_options(**dict.fromkeys(options))


def causal_off_by_one(solution):
    visible = original("visible", solution)
    return visible & (solution.position >= 1) if solution.problem.options.get("is_causal") else visible


def window_off_by_one(solution):
    window = solution.problem.options.get("window")
    if window is None or window[1] is None:
        return original("visible", solution)
    wider = solution.problem.with_options(window=(window[0], window[1] + 1))
    return original("visible", dataclasses.replace(solution, problem=wider))


def alibi_sign(solution):
    slopes = solution.problem.options.get("alibi_slopes")
    if slopes is None:
        return original("scores", solution)
    return original(
        "scores", dataclasses.replace(solution, problem=solution.problem.with_options(alibi_slopes=-slopes))
    )


def no_mean_term(solution, cotangent):
    into_weights = cotangent @ np.swapaxes(solution.value, -1, -2)
    return np.where(solution.empty[..., None], 0.0, solution.weights * into_weights)


def no_sum_over_the_group(solution, per_head):
    batch, _, kv_heads, *_ = solution.problem.shape
    picked = np.zeros((batch, kv_heads, *per_head.shape[2:]))
    picked[:, solution.kv_head] = per_head
    return picked


def empty_rows_of_zeros(solution):
    weights = original("weights", solution)
    weights[solution.empty] = 0.0
    return weights


def no_cap_slope(solution):
    return np.ones(solution.scaled.shape)


MUTANTS = {
    "scale by d instead of √d": ("scale", _prop(lambda s: original("scale", s) ** 2)),
    "scale off by 1e-12": ("scale", _prop(lambda s: original("scale", s) * (1 + 1e-12))),
    "given scale ignored": ("scale", _prop(without("scale", "scale"))),
    "causal off by one": ("visible", _prop(causal_off_by_one)),
    "window off by one": ("visible", _prop(window_off_by_one)),
    "alignment ignored": ("position", _prop(lambda s: np.subtract.outer(*map(np.arange, s.problem.shape[3:5])) * 1.0)),
    "softcap in the default order": ("scores", _prop(narrowed("scores", softcap_order="before-bias"))),
    "sink left out of the denominator": ("sinks", _prop(lambda s: np.full((s.problem.shape[1], 1), -np.inf))),
    "ALiBi with the wrong sign": ("scores", _prop(alibi_sign)),
    "segments ignored": ("visible", _prop(without("visible", "query_segments", "key_segments"))),
    "lengths ignored": ("visible", _prop(without("visible", "key_lengths"))),
    "grouped heads read as tiled": ("kv_head", _prop(narrowed("kv_head", gqa_map="tiled"))),
    "empty rows always 0": ("weights", _prop(empty_rows_of_zeros)),
    "LSE in base 2": ("lse", _prop(lambda s: original("lse", s) / oracle.LN2)),
    "gradient without its mean term": ("score_gradient", no_mean_term),
    "gradients not summed over the group": ("per_kv_head", no_sum_over_the_group),
    "softcap's slope forgotten": ("cap_slope", _prop(no_cap_slope)),
}


@pytest.mark.parametrize("fault", MUTANTS)
def test_planted_fault_is_seen(fault, monkeypatch):
    assert failing() is None
    name, replacement = MUTANTS[fault]
    assert name in vars(Solution)
    monkeypatch.setattr(Solution, name, replacement)
    assert failing() is not None
