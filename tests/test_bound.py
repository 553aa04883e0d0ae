"""The error bound is not broken by correct implementations of any kind, and not so wide that faults hide under it.

``pytest -s`` prints the largest error ÷ bound of each variant and dtype.
"""

import dataclasses
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from attnspec.specs import bound as bound_module
from attnspec.specs.bound import Bound, Precision
from attnspec.specs.compare import ratios
from attnspec.specs.contract import CONVENTIONS, DTYPES, default_conventions
from attnspec.specs.oracle import solve
from attnspec.specs.plan import POOL
from attnspec.specs.problem import Problem, lifted, numpy_dtype
from attnspec.specs.recipe import Recipe, Shape
from attnspec.specs.settings import SETTINGS
from attnspec.specs.values import DISTRIBUTIONS

HALF = ("float16", "bfloat16")
PARTS = ("output", "weights", "lse")
GRADIENTS = ("dquery", "dkey", "dvalue")
SWITCHED = ("causal_alignment", "empty_row", "empty_row_bias", "softcap_order", "window", "gqa_map", "empty_row_lse")
LARGEST_SHAPES = {shape for shape in POOL if shape.queries * shape.keys > 1000}


@dataclass(frozen=True)
class Variant:
    """One of the ways to compute attention."""

    scaled: str = "scores"
    """What the scale is applied to: the scores, the query, the key, or its square root to both."""
    base2: bool = False
    """exp2 of scores times log2 e, instead of exp."""
    block: int | None = None
    """Online softmax over key blocks of this size."""
    norms: bool = False
    """‖q‖·max‖k‖ is subtracted instead of the maximum."""
    deferred: bool = False
    """The division by the denominator comes after the sum over the values."""
    single: bool = False
    """Half precision keeps its intermediates in float32."""
    lowered: bool = False
    """float64 is computed in float32."""
    recomputed: bool = False
    """The backward pass makes the weights anew from the log-sum-exp."""
    through_output: bool = False
    """D = dO·O instead of Σ P∘dP."""


VARIANTS = {
    "naive": Variant(),
    "naive in single": Variant(single=True),
    "scale on the query": Variant("query", deferred=True),
    "scale on the key": Variant("key", single=True),
    "root of the scale on both": Variant("both", recomputed=True),
    "base 2": Variant(base2=True),
    "base 2 on the query": Variant("query", base2=True, single=True, deferred=True),
    "blocks of 1": Variant(block=1, recomputed=True, through_output=True),
    "blocks of 3": Variant("query", block=3, base2=True, recomputed=True),
    "blocks of 3 in single": Variant("key", block=3, single=True, recomputed=True, through_output=True),
    "blocks of 16": Variant("both", block=16, through_output=True),
    "float32 for float64": Variant("query", lowered=True, deferred=True),
    "float32 blocks for float64": Variant(block=3, lowered=True, recomputed=True),
    "norms for the maximum": Variant("scores", norms=True, single=True),
}


FADED = np.exp(20) * np.finfo(np.float32).tiny
"""What a weight may lose to underflow where up to 20 more than the maximum is subtracted; no bound grants it."""


class Computation:
    """Attention as a variant computes it: accumulated in float32 or float64, every intermediate stored and rounded."""

    def __init__(self, solution, variant):
        self.solution, self.variant = solution, variant
        problem = solution.problem
        self.options, self.dtype = problem.options, numpy_dtype(problem.dtype)
        self.wide = np.float64 if problem.dtype == "float64" and not variant.lowered else np.float32
        self.stored = self.wide if variant.single or variant.lowered else self.dtype
        self.query = lifted(problem.query).astype(self.wide)
        self.key, self.value = (lifted(a)[:, solution.kv_head].astype(self.wide) for a in (problem.key, problem.value))
        self.log2e = self.store(np.log2(np.e)) if variant.base2 else self.wide(1)
        self.scale = self.store(solution.scale)
        self.hidden = ~np.isfinite(solution.logits)

    def store(self, numbers):
        return np.asarray(numbers).astype(self.wide).astype(self.stored).astype(self.wide)

    def factors(self):
        """(query, key, what is left to multiply the product with)."""
        root = self.store(np.sqrt(np.abs(self.scale)))
        match self.variant.scaled:
            case "query":
                return self.store(self.query * self.scale), self.key, self.wide(1)
            case "key":
                return self.query, self.store(self.key * self.scale), self.wide(1)
            case "both":
                return self.store(self.query * root), self.store(self.key * root), np.sign(self.scale)
        return self.query, self.key, self.scale

    def scores(self):
        query, key, rest = self.factors()
        scores = self.store(self.store(query @ key.swapaxes(-1, -2)) * rest)
        first, second = (self.capped, self.biased)
        if self.solution.conventions["softcap_order"] == "after-bias":
            first, second = second, first
        scores = second(first(scores))
        return np.where(self.hidden, self.wide(-np.inf), self.store(scores * self.log2e))

    def capped(self, scores):
        if self.solution.softcap is None:
            return scores
        cap = self.wide(self.solution.softcap)
        self.tanh = self.store(np.tanh(self.store(scores / cap)))
        return self.store(cap * self.tanh)

    def biased(self, scores):
        if "bias" in self.options:
            bias = lifted(self.options["bias"]).astype(self.wide)
            scores = self.store(scores + self.store(np.where(np.isneginf(bias), 0, bias)))
        if "alibi_slopes" in self.options:
            distance = np.abs(self.solution.position).astype(self.wide)
            slopes = self.options["alibi_slopes"].astype(self.wide)[:, None, None]
            scores = self.store(scores - self.store(slopes * distance))
        return scores

    def sink(self):
        """(1, Hq, 1)"""
        sinks = self.options.get("sinks", np.full(self.query.shape[1], -np.inf))
        return self.store(self.store(sinks.astype(self.wide)) * self.log2e)[None, :, None]

    def exp(self, scores):
        return self.store(np.exp2(scores) if self.variant.base2 else np.exp(scores))

    def shift(self, scores):
        """(B, Hq, L): what is subtracted; 0 in an empty row."""
        top = np.maximum(scores.max(-1, initial=-np.inf), self.sink())
        top = np.where(np.isfinite(top), top, 0)
        if not self.variant.norms:
            return top
        query, key = (np.sqrt((a * a).sum(-1)) for a in (self.query, self.key))
        above = np.abs(self.scale) * self.log2e * query * key.max(-1, initial=0)[..., None]
        return np.where((above > top) & (above < top + 20), above, top)

    def below(self, scores, shift):
        return np.where(np.isneginf(scores), scores, self.store(scores - shift))

    def at_once(self, scores):
        """(exponentials (B, Hq, L, S), their unnormalised sum over the values or None, denominator, shift)."""
        shift = self.shift(scores)
        exponentials = self.exp(self.below(scores, shift[..., None]))
        total = self.store(exponentials.sum(-1, dtype=self.wide) + self.exp(self.below(self.sink(), shift)))
        return exponentials, exponentials @ self.value if self.variant.deferred else None, total, shift

    def by_blocks(self, scores):
        shift = np.broadcast_to(self.sink(), scores.shape[:-1]).astype(self.wide)
        total = np.isfinite(shift).astype(self.wide)
        summed = np.zeros((*scores.shape[:-1], self.value.shape[-1]), self.wide)
        for start in range(0, scores.shape[-1], self.variant.block):
            block = np.s_[start : start + self.variant.block]
            higher = np.maximum(shift, scores[..., block].max(-1))
            base = np.where(np.isfinite(higher), higher, 0)
            rescaling = self.exp(self.below(shift, base))
            exponentials = self.exp(self.below(scores[..., block], base[..., None]))
            total = total * rescaling + exponentials.sum(-1, dtype=self.wide)
            summed = summed * rescaling[..., None] + exponentials @ self.value[..., block, :]
            shift = higher
        shift = np.where(np.isfinite(shift), shift, 0)
        return self.exp(self.below(scores, shift[..., None])), summed, total, shift

    def forward(self):
        solution, empty = self.solution, self.solution.empty
        self.scored = self.scores()
        how = self.by_blocks if self.variant.block else self.at_once
        exponentials, summed, total, shift = how(self.scored)
        divisor = np.where(empty, 1, total).astype(self.wide)[..., None]
        weights = self.store(exponentials / divisor)
        self.weights = np.where(empty[..., None], solution.weights.astype(self.wide), weights)
        mixed = self.weights @ self.value if summed is None else summed / divisor
        mixed = np.where(empty[..., None], self.weights @ self.value, mixed)
        mixed = np.where(np.isnan(solution.output), self.wide(np.nan), mixed)
        self.output = mixed.astype(self.dtype)
        log = np.log2(divisor[..., 0]) if self.variant.base2 else np.log(divisor[..., 0])
        self.lse = (log + shift) * (self.wide(np.log(2)) if self.variant.base2 else self.wide(1))
        self.lse = np.where(empty, solution.lse.astype(self.wide), self.lse)
        return {"output": self.output, "weights": self.weights.astype(self.dtype), "lse": self.lse}

    def weights_again(self):
        if not self.variant.recomputed:
            return self.weights
        empty = self.solution.empty[..., None]
        shift = np.where(empty, 0, self.lse[..., None]).astype(self.wide) * self.wide(self.log2e)
        return np.where(empty, self.weights, self.exp(self.below(self.scored, shift)))

    def backward(self, cotangent):
        """After ``forward``."""
        into_output, weights = cotangent.astype(self.wide), self.weights_again()
        into_weights = self.store(into_output @ self.value.swapaxes(-1, -2))
        if self.variant.through_output:
            mean = (into_output * self.output.astype(self.wide)).sum(-1, keepdims=True)
        else:
            mean = (weights * into_weights).sum(-1, keepdims=True)
        into_scores = self.store(weights * self.store(into_weights - self.store(mean)))
        into_scores = np.where(self.hidden, 0, into_scores)
        if self.solution.softcap is not None:
            into_scores = self.store(into_scores * self.store(1 - self.store(self.tanh**2)))
        query, key, rest = self.factors()
        into_scores = self.store(into_scores * rest)
        over_query, over_key = (self.wide(1), self.wide(1))
        if self.variant.scaled in ("query", "both"):
            over_query = self.scale if self.variant.scaled == "query" else self.store(np.sqrt(np.abs(self.scale)))
        if self.variant.scaled in ("key", "both"):
            over_key = self.scale if self.variant.scaled == "key" else self.store(np.sqrt(np.abs(self.scale)))
        dquery = self.store(into_scores @ key) * over_query
        dkey = self.store(into_scores.swapaxes(-1, -2) @ query) * over_key
        dvalue = self.store(weights.swapaxes(-1, -2) @ into_output)
        summed = [self.solution.per_kv_head(gradient).astype(self.wide) for gradient in (dkey, dvalue)]
        return [gradient.astype(self.dtype) for gradient in (dquery, *summed)]


def drawn(rng, dtype, shapes, number):
    """A recipe with up to four options, and conventions."""
    recipe = Recipe(shapes[rng.randint(len(shapes))], dtype, list(DISTRIBUTIONS)[number % len(DISTRIBUTIONS)], number)
    options = rng.permutation(list(SETTINGS))[: rng.randint(5)]
    named = {name: [setting for setting in SETTINGS[name] if setting != "lowest"] for name in options}
    picks = {name: settings[rng.randint(len(settings))] for name, settings in named.items()}
    conventions = {name: CONVENTIONS[name][rng.randint(len(CONVENTIONS[name]))] for name in SWITCHED}
    return recipe.with_settings(**picks), {**default_conventions(), **conventions}


@cache
def solutions(dtype):
    """Eighty solved problems of a dtype, one of them large."""
    rng = np.random.RandomState(DTYPES.index(dtype))
    small = [shape for shape in POOL if shape not in LARGEST_SHAPES]
    shapes = [small] * 79 + [sorted(LARGEST_SHAPES, key=dataclasses.astuple)]
    cases = [drawn(rng, dtype, choice, number) for number, choice in enumerate(shapes)]
    return [solve(recipe.problem(), conventions) for recipe, conventions in cases]


@cache
def granted(solution, intermediate):
    return Bound(solution, Precision.of(solution.problem.dtype, intermediate))


def cotangent_of(solution):
    return solution.problem.rng.randint(-2, 3, solution.output.shape).astype(np.float64)


def worst_of(came, wanted, bound):
    return ratios(came, wanted, bound).max(initial=0.0)


def errors(solution, variant, intermediate):
    """part → the largest error ÷ bound of the variant on one problem."""
    bound, computation = granted(solution, intermediate), Computation(solution, variant)
    faded = {"weights": FADED if variant.norms else 0.0}
    with np.errstate(all="ignore"):
        came = computation.forward()
        allowed = {part: getattr(bound, part) + faded.get(part, 0.0) for part in PARTS}
        found = {part: worst_of(came[part], getattr(solution, part), allowed[part]) for part in PARTS}
        if not np.isnan(solution.output).any():
            cotangent = cotangent_of(solution)
            came = computation.backward(cotangent)
            wanted, allowed = solution.gradients(cotangent), bound.gradients(cotangent)
            found |= {name: worst_of(*triple) for name, *triple in zip(GRADIENTS, came, wanted, allowed, strict=True)}
    return found


def largest_errors(variant, dtype, several=slice(None)):
    """part → the largest error ÷ bound of the variant on the problems of a dtype."""
    intermediate = "float32" if variant.single or dtype not in HALF else "input"
    if variant.lowered:
        intermediate = "at-most-float32"
    found = dict.fromkeys((*PARTS, *GRADIENTS), 0.0)
    for solution in solutions(dtype)[several]:
        for part, ratio in errors(solution, variant, intermediate).items():
            found[part] = max(found[part], ratio)
    return found


def differs(name, dtype):
    """Whether the variant is one of its own in the dtype."""
    return dtype in HALF if "in single" in name else dtype == "float64" or not VARIANTS[name].lowered


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in VARIANTS for d in DTYPES if differs(n, d)])
def test_no_correct_implementation_breaks_the_bound(name, dtype):
    found = largest_errors(VARIANTS[name], dtype)
    print(f"\n{name}, {dtype}:", ", ".join(f"{part} {ratio:.2g}" for part, ratio in found.items()), end="")
    assert max(found.values()) <= 1


def swapped(problem):
    order = np.arange(problem.shape[4])
    order[:2] = 1, 0
    return problem.replace(key=problem.key[..., order, :])


def triangle(problem, diagonal):
    return np.tri(problem.shape[3], problem.shape[4], diagonal, dtype=bool)


def scaled_by(problem, factor):
    return problem.with_options(scale=factor / np.sqrt(problem.shape[5]))


FAULTS = {
    "scale off by 1 %": lambda p: (p, scaled_by(p, 1.01)),
    "two keys swapped": lambda p: (p, swapped(p)),
    "one key dropped": lambda p: (p, p.with_options(mask=np.arange(p.shape[4]) != 1)),
    "mask off by one": lambda p: (p.with_options(mask=triangle(p, 0)), p.with_options(mask=triangle(p, 1))),
}

SEVERAL_KEYS = [shape for shape in POOL if 0 not in dataclasses.astuple(shape) and shape.keys > 1]


def detections(problem, fault):
    """(error ÷ bound of the output, and the largest of the gradients) that the fault makes on one problem."""
    right, wrong = FAULTS[fault](problem)
    wanted, came, bound = solve(right), solve(wrong), Bound(solve(right), Precision.of(problem.dtype, "input"))
    cotangent = cotangent_of(wanted)
    triples = zip(came.gradients(cotangent), wanted.gradients(cotangent), bound.gradients(cotangent), strict=True)
    return worst_of(came.output, wanted.output, bound.output), max(worst_of(*triple) for triple in triples)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_hides_under_the_bound(fault, dtype):
    found = [detections(Recipe(shape, dtype).problem(), fault) for shape in SEVERAL_KEYS]
    smallest = [min(column) for column in zip(*found, strict=True)]
    print(f"\n{fault}, {dtype}: at least {smallest[0]:.3g} times the bound, gradients {smallest[1]:.3g}", end="")
    assert min(smallest) >= 5
    assert min(min(pair) for pair, shape in zip(found, SEVERAL_KEYS, strict=True) if shape.keys < 1000) >= 20


@pytest.mark.parametrize("fault", list(FAULTS)[1:])
def test_no_coarse_fault_hides_in_float16(fault):
    small = [shape for shape in SEVERAL_KEYS if shape.keys < 10]
    assert min(detections(Recipe(shape, "float16").problem(), fault)[0] for shape in small) >= 3


def check_faults_stand_out():
    for fault in FAULTS:
        assert min(detections(Recipe(shape).problem(), fault)[0] for shape in SEVERAL_KEYS[:4]) >= 20


def hidden_from_all(problem, filling):
    """The problem with its second key hidden from every query, and something in its place."""
    hidden = (np.arange(problem.shape[4]) == 1)[:, None]
    filled = {name: np.where(hidden, filling, getattr(problem, name)) for name in ("key", "value")}
    return problem.replace(**filled).with_options(mask=~hidden[:, 0], return_lse=True)


def check_hidden_keys_have_no_share():
    """What is hidden has weight exactly 0, and what stands there does not widen the bound."""
    problem = Recipe(Shape(2, 2, 2, 3, 5, 4, 4), "float32").problem()
    plain, filled = (solve(hidden_from_all(problem, np.float32(x))) for x in (0, 1e6))
    plain, filled = (Bound(solution, Precision.of("float32", "input")) for solution in (plain, filled))
    assert not plain.weights[..., 1].any()
    assert (plain.weights[..., 0] > 0).all()
    for part in PARTS:
        assert np.array_equal(getattr(plain, part), getattr(filled, part)), part
    cotangent = cotangent_of(plain.solution)
    for one, other in zip(plain.gradients(cotangent), filled.gradients(cotangent), strict=True):
        kept = np.s_[..., np.arange(one.shape[-2]) != 1, :] if one.shape[-2] == 5 else np.s_[...]
        assert np.array_equal(one[kept], other[kept])


def moved_weights(solution, errors):
    """The weights of scores that are off by ``errors`` (B, Hq, L, S), and how far their log-sum-exp moves."""
    logits = solution.logits + errors
    sinks = np.broadcast_to(solution.sinks[..., None], (*logits.shape[:-1], 1))
    every = np.concatenate([logits, sinks], axis=-1)
    top = np.maximum(every.max(-1, keepdims=True), -1e300)
    exponentials = np.exp(every - top)
    total = exponentials.sum(-1, keepdims=True)
    kept = ~solution.empty
    return (exponentials / total)[..., :-1][kept], ((np.log(total) + top)[..., 0] - solution.log_denominator)[kept]


def check_score_errors_are_carried_through():
    """At the corners of the box |e| ≤ δ, where they move furthest, weights and log-sum-exp stay within the bound."""
    for seed, (dtype, values) in enumerate([("bfloat16", "large"), ("float16", "large"), ("bfloat16", "gaussian")] * 2):
        recipe = Recipe(Shape(2, 2, 2, 3, 5, 4, 4), dtype, values, seed).with_settings(mask="full", sinks="gaussian")
        hold_at_corners(recipe.problem())


def check_an_uncertain_key_takes_from_a_certain_one():
    """A score of 48 − 50 may be off by 3, which moves the weight of the other key further down than up."""
    query, key = np.array([[8.0, 0.0]]), np.array([[0.0, 0.0], [6.0, 0.0]])
    query, key = (a.astype(numpy_dtype("bfloat16")) for a in (query, key))
    hold_at_corners(Problem(query, key, key, {"scale": 1.0, "bias": np.array([[0.0, -50.0]])}))


def hold_at_corners(problem):
    solution = solve(problem)
    bound, kept = Bound(solution, Precision.of(problem.dtype, "input")), ~solution.empty
    keys = problem.shape[4]
    for key in range(keys):
        for sign in (1, -1):
            signs = np.where(np.arange(keys) == key, sign, -sign)
            weights, lse = moved_weights(solution, signs * bound.delta)
            allowed = bound.stored_weights[kept][:, key]
            assert (np.abs(weights - solution.weights[kept])[:, key] <= allowed + 1e-15).all()
            assert (np.abs(lse) <= bound.lse[kept] + 1e-15).all()


def check_large_biases_are_allowed_for():
    rng = np.random.RandomState(0)
    problem = Recipe(Shape(2, 3, 3, 5, 5, 4, 4), "float32").problem()
    for size in (1e3, 1e5):
        bias = (size * rng.uniform(1, 1 + 1 / size, (5, 5))).astype(np.float32)
        solution = solve(problem.with_options(bias=bias))
        assert max(errors(solution, Variant(), "input").values()) <= 1


def check_overflow_is_allowed_for():
    """Products of 64·60·60 are beyond float16, and scores of an eighth of that are not."""
    ones = np.ones((1, 1, 2, 64), np.float16)
    solution = solve(Problem(60 * ones, 60 * ones, ones))
    naive, single = (Bound(solution, Precision.of("float16", i)) for i in ("input", "float32"))
    for part in PARTS:
        assert np.isposinf(getattr(naive, part)).all()
        assert np.isfinite(getattr(single, part)).all()
    for one, other in zip(naive.gradients(ones), single.gradients(ones), strict=True):
        assert np.isposinf(one).all()
        assert np.isfinite(other).all()


def check_subnormal_values_are_allowed_for():
    """Hundreds of products, each rounded to a subnormal number."""
    value = np.full((1, 1, 385, 3), 2e-43, np.float32) * np.arange(1, 4, dtype=np.float32)
    query, key = (np.random.RandomState(s).standard_normal((1, 1, n, 4)).astype("f") for s, n in ((0, 40), (1, 385)))
    assert errors(solve(Problem(query, key, value)), Variant(), "input")["output"] <= 1


def check_correct_implementations_pass():
    for name in ("naive", "blocks of 3"):
        for dtype in ("float32", "float16"):
            assert max(largest_errors(VARIANTS[name], dtype, slice(40)).values()) <= 1


def check_wide_intermediates_lose_nothing_to_the_inputs_underflow():
    """What float16 cannot hold and float32 can is no excuse for scores and weights that are kept in float32."""
    problem = Recipe(Shape(1, 1, 1, 2, 512, 4, 4), "float16").problem()
    kept, flushed = (Bound(solve(problem), Precision.of("float16", "float32", f)).output for f in (False, True))
    assert (flushed - kept <= 5 * np.finfo(np.float16).smallest_normal).all()


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_bound(check):
    check()


def test_values_near_the_end_of_the_range():
    """S·max|V| overflows although the weighted mean does not: infinite only where that is a declared limit."""
    ones = np.ones((1, 1, 3, 2), np.float32)
    value = ones * np.array([2e38, 1], np.float32)
    solution, precision = solve(Problem(ones, ones, value)), Precision.of("float32", "input")
    limited = Bound(solution, precision, values_may_overflow=True)
    assert np.isfinite(Bound(solution, precision).output).all()
    assert np.isposinf(limited.output[..., 0]).all()
    assert np.isfinite(limited.output[..., 1]).all()
    assert np.isposinf(limited.gradients(ones[..., :2])[0]).all()


def test_lowest_finite_bias_hides_without_loss():
    """A bias of the lowest number over part of the keys leaves the bound about as if those keys were hidden."""
    problem = Recipe(Shape(2, 2, 2, 3, 5, 4, 4), "float32").problem()
    mask = np.arange(5) != 1
    lowest = problem.with_options(bias=np.where(mask, 0, np.finfo("f").min).astype("f"))
    bounds = [Bound(solve(p), Precision.of("float32", "input")) for p in (lowest, problem.with_options(mask=mask))]
    assert (bounds[0].output < 1.5 * bounds[1].output).all()


def test_rows_that_no_convention_determines_have_no_bound():
    bias = np.array([[-np.inf, 0.0, 0.0], [-np.inf, -np.inf, 0.0]])
    problem = Recipe(Shape(1, 1, 1, 2, 3, 2, 2), "float64").problem()
    problem = problem.with_options(bias=bias, mask=np.array([True, True, False]))
    bound = Bound(solve(problem, {**default_conventions(), "empty_row_bias": "mean"}), Precision.of("float64", "input"))
    assert np.isfinite(bound.output[..., 0, :]).all()
    assert np.isposinf(bound.output[..., 1, :]).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_bounds_are_numbers_for_every_kind_of_problem(dtype):
    """Never NaN, never negative, no warning; over the whole pool and both ways to store and to underflow."""
    rng = np.random.RandomState(11)
    for number in range(150):
        recipe, conventions = drawn(rng, dtype, POOL, number)
        solution = solve(recipe.problem(), conventions)
        precision = Precision.of(dtype, rng.choice(["input", "float32"]), bool(rng.randint(2)))
        bound = Bound(solution, precision, bool(rng.randint(2)))
        for part in (*(getattr(bound, name) for name in PARTS), *bound.gradients(cotangent_of(solution))):
            assert (part >= 0).all(), (recipe, conventions)


@pytest.mark.parametrize("dtype", DTYPES)
def test_shapes_are_those_of_the_answer(dtype):
    for solution in solutions(dtype):
        bound, cotangent = granted(solution, "input"), cotangent_of(solution)
        for part in PARTS:
            assert getattr(bound, part).shape == getattr(solution, part).shape
        for one, other in zip(bound.gradients(cotangent), solution.gradients(cotangent), strict=True):
            assert one.shape == other.shape


def test_more_precision_is_a_tighter_bound():
    problem = Recipe(Shape(2, 3, 3, 5, 5, 4, 4), values="small-integers").problem()
    cast = [
        problem.replace(**{n: getattr(problem, n).astype(numpy_dtype(d)) for n in ("query", "key", "value")})
        for d in DTYPES
    ]
    for intermediate in ("input", "float32"):
        sizes = [Bound(solve(p), Precision.of(p.dtype, intermediate)).output.max() for p in cast]
        assert sizes == sorted(sizes)
    for dtype in HALF:
        tight, wide = (Bound(solve(cast[2]), Precision.of(dtype, i)).output for i in ("float32", "input"))
        assert (tight < wide).all()


def times(name, factor):
    original = vars(Bound)[name].func
    return name, property(lambda bound: factor * original(bound))


def gradients_times(factor):
    original = Bound.gradients
    return "gradients", lambda bound, cotangent: tuple(factor * part for part in original(bound, cotangent))


def blind_to_the_mask(bound):
    everything = dataclasses.replace(bound.solution, problem=bound.solution.problem.with_options(mask=None))
    return ORIGINAL["weights"](dataclasses.replace(bound, solution=everything))


def blind_to_the_bias(bound):
    bare = dataclasses.replace(bound.solution, problem=bound.solution.problem.with_options(bias=None))
    return ORIGINAL["delta"](dataclasses.replace(bound, solution=bare))


def relative_to_the_score(bound):
    solution = bound.solution
    return bound._relative * np.abs(solution.scaled) + 0 * ORIGINAL["delta"](bound)


def upwards_only(bound):
    _, down = bound._drift
    solution = bound.solution
    with np.errstate(over="ignore"):
        moved = np.minimum(solution.weights * np.expm1(bound.delta - down[..., None]), 1)
    roundings = (bound._sum_error + 4 * bound.precision.stored) * (solution.weights + moved)
    return np.where(np.isfinite(solution.logits), moved + roundings + 2 * bound.precision.smallest, 0.0)


ORIGINAL = {name: vars(Bound)[name].func for name in ("weights", "delta", "lse")}


class Limitless:
    """No number is too small to be stored."""

    smallest_subnormal = smallest_normal = 0.0
    max = np.inf


def underflow_of_the_inputs(dtype, intermediate, flushes=False):
    precision = ORIGINAL_PRECISION(dtype, intermediate, flushes)
    return dataclasses.replace(precision, smallest=precision.smallest + precision.returned)


ORIGINAL_PRECISION = Precision.of

MUTANTS = {
    "output a million times as wide": (Bound, *times("output", 1e6)),
    "output without end": (Bound, "output", property(lambda bound: np.full(bound.solution.output.shape, np.inf))),
    "output a thousandth": (Bound, *times("output", 1e-3)),
    "weights a thousandth": (Bound, *times("weights", 1e-3)),
    "log-sum-exp a thousandth": (Bound, *times("lse", 1e-3)),
    "gradients a thousandth": (Bound, *gradients_times(1e-3)),
    "score errors forgotten": (Bound, *times("delta", 0)),
    "score errors relative to the score": (Bound, "delta", property(relative_to_the_score)),
    "mask ignored": (Bound, "weights", property(blind_to_the_mask)),
    "bias ignored": (Bound, "delta", property(blind_to_the_bias)),
    "weights that only grow": (Bound, "stored_weights", property(upwards_only)),
    "stored exponentials forgotten in the log-sum-exp": (
        Bound,
        "lse",
        property(lambda bound: ORIGINAL["lse"](bound) - 4 * bound.precision.stored),
    ),
    "overflow ignored": (Bound, "lost", property(lambda bound: bound.solution.undetermined[..., None])),
    "underflow of the inputs' dtype everywhere": (Precision, "of", staticmethod(underflow_of_the_inputs)),
    "underflow ignored": (bound_module, "_limits", lambda dtype: Limitless),
}


@pytest.mark.parametrize("fault", MUTANTS)
def test_planted_fault_is_seen(fault, monkeypatch):
    monkeypatch.setattr(*MUTANTS[fault])
    for kept in (granted, ORIGINAL_PRECISION):
        kept.cache_clear()
    try:
        assert any(fails(check) for check in CHECKS)
    finally:
        for kept in (granted, ORIGINAL_PRECISION):
            kept.cache_clear()


def fails(check):
    try:
        check()
    except AssertionError:
        return True
    return False


def torch_inputs(torch, solution):
    problem = solution.problem
    dtype = getattr(torch, problem.dtype)
    return [
        torch.tensor(np.asarray(lifted(a), np.float64)).to(dtype).requires_grad_()
        for a in (problem.query, problem.key, problem.value)
    ]


def torch_naive(torch, solution, query, key, value):
    head = torch.tensor(solution.kv_head)
    scores = query @ key[:, head].mT * solution.scale
    if solution.softcap is not None:
        scores = solution.softcap * torch.tanh(scores / solution.softcap)
    scores = scores + torch.tensor(solution.added).to(scores.dtype)
    scores = scores.masked_fill(~torch.tensor(solution.visible), -torch.inf)
    sinks = torch.tensor(solution.sinks).to(scores.dtype)[:, None].expand(*scores.shape[:-1], 1)
    return torch.softmax(torch.cat([scores, sinks], dim=-1), dim=-1)[..., :-1] @ value[:, head]


def torch_fused(torch, solution, query, key, value):
    head = torch.tensor(solution.kv_head)
    bias = torch.tensor(np.where(solution.visible, solution.added, -np.inf)).to(query.dtype)
    attention = torch.nn.functional.scaled_dot_product_attention
    return attention(query, key[:, head], value[:, head], attn_mask=bias, scale=solution.scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("how", [torch_naive, torch_fused])
def test_torch_stays_within_the_bound(how, dtype):
    torch = pytest.importorskip("torch")
    found = dict.fromkeys(("output", *GRADIENTS), 0.0)
    for solution in solutions(dtype)[::2]:
        unfit = solution.softcap is not None or np.isfinite(solution.sinks).any()
        after_bias = solution.softcap is not None and solution.conventions["softcap_order"] == "after-bias"
        if solution.empty.any() or 0 in solution.problem.shape or after_bias or (how is torch_fused and unfit):
            continue
        bound, cotangent = granted(solution, "input"), cotangent_of(solution)
        inputs = torch_inputs(torch, solution)
        output = how(torch, solution, *inputs)
        gradients = torch.autograd.grad(output, inputs, torch.tensor(cotangent).to(output.dtype))
        came = [tensor.detach().to(torch.float64).numpy() for tensor in (output, *gradients)]
        wanted, allowed = [solution.output, *solution.gradients(cotangent)], [bound.output, *bound.gradients(cotangent)]
        for name, triple in zip(found, zip(came, wanted, allowed, strict=True), strict=True):
            found[name] = max(found[name], worst_of(*triple))
    print(f"\n{how.__name__}, {dtype}:", ", ".join(f"{part} {ratio:.2g}" for part, ratio in found.items()), end="")
    assert 0 < max(found.values()) <= 1
