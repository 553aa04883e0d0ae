"""Dropout: some weights are dropped at random, the others made larger, and a seed fixes which.

The values are the identity: each output element is then one weight after dropout, so the mask shows.
"""

from collections.abc import Iterable

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import Violation, hold, invariant
from attnspec.specs.invariants.common import part, require, same_bits
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Problem, lifted
from attnspec.specs.recipe import Recipe, Shape
from attnspec.specs.transforms import cotangent, lifted_cotangent

SRIVASTAVA = "Srivastava et al. 2014, Dropout, section 10: inverted, that is scaled while training"

RATE = 0.25

SIGMAS = 6
"""A fraction so many standard deviations from its mean comes once in 500 million runs."""


def _identity_values(dtype: str) -> Problem:
    problem = Recipe(Shape(2, 2, 2, 16, 16, 16, 16), dtype, "gaussian").problem()
    return problem.replace(value=np.broadcast_to(np.eye(16, dtype=problem.value.dtype), problem.value.shape))


def dropping(backend: Backend, problem: Problem, rate: float = RATE, seed: int = 0, **options: bool) -> Problem:
    """The problem with dropout, seeded if the backend takes a seed."""
    seeded = {"seed": seed} if backend.supports(frozenset({"seed"})) else {}
    asked = problem.with_options(dropout_rate=rate, **seeded, **options)
    require(backend.supports(asked.features))
    return asked


def dropped(backend: Backend, problem: Problem, seeds: Iterable[int] = (0, 1), rate: float = RATE) -> list[Floats]:
    """(B, Hq, L, S): the weights after dropout, for each seed."""
    outputs = (part(backend.solve(dropping(backend, problem, rate, seed)), "output") for seed in seeds)
    return [np.asarray(output, np.float64) for output in outputs]


@invariant(
    "dropout.zero_or_scaled",
    formula="W̃_ij ∈ {0, W_ij / (1 − p)}",
    source=SRIVASTAVA,
    claims={"dropout_rate"},
    probes=(_identity_values,),
)
def zero_or_scaled(backend: Backend, problem: Problem) -> float:
    """With dropout at rate p each weight is 0 or the weight divided by 1 − p."""
    weights, bound = backend.solution(problem).weights, backend.bound(problem).output
    ratios = []
    for came in dropped(backend, problem):
        wanted = np.where(came == 0, 0, weights / (1 - RATE))
        ratios.append(hold("weights after dropout", came, wanted, 2 * bound / (1 - RATE)))
    return max(ratios)


@invariant(
    "dropout.rate",
    formula="P(W̃_ij = 0) = p",
    source=SRIVASTAVA,
    claims={"dropout_rate"},
    probes=(_identity_values,),
)
def rate(backend: Backend, problem: Problem) -> float:
    """Dropout at rate p drops that fraction of the weights."""
    ratios = []
    for asked in (RATE, 0.8):
        zero = np.array([came == 0 for came in dropped(backend, problem, rate=asked)])
        deviation = np.sqrt(asked * (1 - asked) / zero.size)
        ratios.append(hold(f"fraction dropped at rate {asked}", zero.mean(), np.array(asked), SIGMAS * deviation))
    return max(ratios)


@invariant(
    "dropout.apart",
    formula="the mask of one row, head or sample is not that of another",
    source=SRIVASTAVA,
    claims={"dropout_rate"},
    probes=(_identity_values,),
)
def apart(backend: Backend, problem: Problem) -> float:
    """Each sample, head and query has dropout of its own."""
    zero = dropped(backend, problem, seeds=(0,))[0] == 0
    for axis, what in enumerate(("sample", "head", "query")):
        if zero.shape[axis] > 1 and (zero == zero.take([0], axis)).all():
            raise Violation(f"dropout: wanted a mask of its own for each {what}, came the same for all")
    return 0.0


@invariant(
    "dropout.seed",
    formula="A(x; p, seed) = A(x; p, seed), and another one for another seed",
    source="torch.manual_seed, jax.random.key: a seed fixes what is drawn",
    catches=("I10",),
    claims={"dropout_rate", "seed"},
    probes=(_identity_values,),
)
def seeded(backend: Backend, problem: Problem) -> float:
    """The same seed drops the same weights, also after other calls, and another seed drops others."""
    first, other, again = dropped(backend, problem, seeds=(1, 2, 1))
    if not same_bits(first, again):
        raise Violation("dropout with seed 1: wanted the same bits again, came others")
    if ((first == 0) == (other == 0)).all():
        raise Violation("dropout with seed 2: wanted other weights dropped than with seed 1, came the same")
    return 0.0


@invariant(
    "dropout.weights_returned",
    formula="W with dropout = W without",
    source="attnspec contract: weights are those before dropout",
    claims={"dropout_rate", "return_weights"},
    probes=(_identity_values,),
)
def weights_returned(backend: Backend, problem: Problem) -> float:
    """The weights returned are those before dropout."""
    came = backend.solve(dropping(backend, problem, return_weights=True))
    bound = backend.bound(problem).weights
    return hold("weights beside dropout", part(came, "weights"), backend.solution(problem).weights, bound)


@invariant(
    "dropout.gradient",
    formula="dV = W̃ᵀdO with the W̃ of the forward pass",
    source="Dao et al. 2022, FlashAttention, algorithm 4: the mask of the forward pass is used again",
    claims={"dropout_rate", "seed", "gradient"},
    probes=(_identity_values,),
)
def gradient(backend: Backend, problem: Problem) -> float:
    """The backward pass drops the weights that the forward pass dropped."""
    asked, back = dropping(backend, problem), lifted_cotangent(problem)
    kept = np.asarray(part(backend.solve(asked), "output"), np.float64)
    dvalue = lifted(backend.gradients(asked, cotangent(problem))[2])
    rounded = np.swapaxes(backend.bound(problem).output, -1, -2) @ np.abs(back)
    limit = 2 / (1 - RATE) * (backend.bound(problem).gradients(back)[2] + rounded)
    return hold("dvalue under dropout", dvalue, np.swapaxes(kept, -1, -2) @ back, limit)
