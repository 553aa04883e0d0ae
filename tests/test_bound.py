"""The error bound is not broken by correct implementations of any kind, and not so wide that faults hide under it.

``python -m pytest -s`` prints the largest error ÷ bound of each variant and dtype.
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
    "norms for the maximum": Variant("scores", norms=True, single=True),
}


class Computation:
    """Attention as a variant computes it: accumulated in float32 or float64, every intermediate stored and rounded."""

    def __init__(self, solution, variant):
        self.solution, self.variant = solution, variant
        problem = solution.problem
        self.options, self.dtype = problem.options, numpy_dtype(problem.dtype)
        self.wide = np.dtype("float64" if problem.dtype == "float64" else "float32").type
        self.stored = self.wide if variant.single else self.dtype
        self.query = lifted(problem.query).astype(self.wide)
        self.key, self.value = (
            lifted(a)[:, solution.kv_head].astype(self.wide) for a in (problem.key, problem.value)
        )
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
    picks = {name: list(SETTINGS[name])[rng.randint(len(SETTINGS[name]))] for name in options}
    conventions = {name: CONVENTIONS[name][rng.randint(len(CONVENTIONS[name]))] for name in SWITCHED}
    return recipe.with_settings(**picks), {**default_conventions(), **conventions}


@cache
def solutions(dtype):
    """A hundred solved problems of a dtype, two of them large."""
    rng = np.random.RandomState(DTYPES.index(dtype))
    small = [shape for shape in POOL if shape not in LARGEST_SHAPES]
    shapes = [small] * 98 + [sorted(LARGEST_SHAPES, key=dataclasses.astuple)] * 2
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
    with np.errstate(under="ignore"):
        came = computation.forward()
        found = {part: worst_of(came[part], getattr(solution, part), getattr(bound, part)) for part in PARTS}
        if not np.isnan(solution.output).any():
            cotangent = cotangent_of(solution)
            triples = zip(computation.backward(cotangent), solution.gradients(cotangent), bound.gradients(cotangent))
            found |= {name: worst_of(*triple) for name, triple in zip(GRADIENTS, triples, strict=True)}
    return found


def largest_errors(variant, dtype):
    """part → the largest error ÷ bound of the variant on the problems of a dtype."""
    intermediate = "float32" if variant.single or dtype not in HALF else "input"
    found = dict.fromkeys((*PARTS, *GRADIENTS), 0.0)
    for solution in solutions(dtype):
        for part, ratio in errors(solution, variant, intermediate).items():
            found[part] = max(found[part], ratio)
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", VARIANTS)
def test_no_correct_implementation_breaks_the_bound(name, dtype):
    found = largest_errors(VARIANTS[name], dtype)
    print(f"\n{name}, {dtype}:", ", ".join(f"{part} {ratio:.2g}" for part, ratio in found.items()), end="")
    assert max(found.values()) <= 1
