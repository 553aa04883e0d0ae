"""Conventions: the choices that the contract leaves open are made as declared.

A probe is a small problem on which the values of one convention give different answers.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import Invariant, Probe, Violation, invariant
from attnspec.specs.contract import HIDING
from attnspec.specs.conventions import Contradiction, agreement, check_convention
from attnspec.specs.functions import hold_like, hold_slopes
from attnspec.specs.invariants.common import hold_result, hold_same, part, poisoned, require, unread
from attnspec.specs.problem import Problem, largest_number, numpy_dtype
from attnspec.specs.recipe import Recipe, Shape

SQUARE = Shape(1, 2, 2, 3, 3, 2, 2)


def _drawn(shape: Shape = SQUARE, seed: int = 7, **settings: str) -> Probe:
    """A problem of a few small integers; the seed is one for which the values of the convention differ by 1 or more."""
    return lambda dtype: Recipe(shape, dtype, "small-integers", seed).with_settings(**settings).problem()


def _emptied_by_mask(dtype: str) -> Problem:
    mask = np.ones((3, 3), bool)
    mask[1] = False
    return Recipe(SQUARE, dtype).problem().with_options(mask=mask)


def _emptied_by_length(dtype: str) -> Problem:
    return Recipe(SQUARE, dtype).problem().with_options(key_lengths=np.array([0]))


def _emptied_by_window(dtype: str) -> Problem:
    return Recipe(Shape(1, 2, 2, 4, 2, 2, 2), dtype).problem().with_options(window=(0, 0))


def _emptied_by_bias(dtype: str) -> Problem:
    bias = np.zeros((3, 3), numpy_dtype(dtype))
    bias[1] = -np.inf
    return Recipe(SQUARE, dtype).problem().with_options(bias=bias)


def _capped_bias(dtype: str) -> Problem:
    bias = np.array([[3, -3, 0]], numpy_dtype(dtype))
    return Recipe(SQUARE, dtype).with_settings(softcap="two").problem().with_options(bias=bias)


def _with_lse(make: Probe) -> Probe:
    return lambda dtype: make(dtype).with_options(return_lse=True)


EMPTYING = (_emptied_by_mask, _emptied_by_length, _emptied_by_window)


def _convention(name: str, sentence: str, source: str, catches: str, *probes: Probe) -> Invariant:
    check: Callable[[Backend, Problem], float] = partial(check_convention, name)
    return Invariant(
        id=f"convention.{name}",
        sentence=sentence,
        formula=f'CONVENTIONS["{name}"]',
        source=source,
        catches=tuple(catches.split()),
        check=check,
        probes=probes,
    )


layout = _convention(
    "layout",
    "Heads stand before the sequence (BHLD) or behind it (BLHD), as declared.",
    "torch SDPA: (N, H, L, E); jax.nn.dot_product_attention: (B, T, N, H)",
    "G6",
    _drawn(),
    _drawn(Shape(1, 2, 2, 4, 6, 4, 4, rank=3)),
)
mask = _convention(
    "mask",
    "True in a mask means that a key may be attended to (attend) or may not (block), as declared.",
    "torch SDPA: True takes part; torch.nn.MultiheadAttention: True is left out",
    "C1 C3 C4",
    _drawn(Shape(1, 1, 1, 2, 2, 1, 1), 3, mask="shared"),
)
causal_alignment = _convention(
    "causal_alignment",
    "With L ≠ S the causal diagonal starts at the first key (top-left) or ends at the last (bottom-right) as declared.",
    "torch SDPA and ONNX Attention: top-left; flash-attn ≥ 2.1: bottom-right",
    "B1 B2 B5 B6 B22",
    _drawn(Shape(1, 1, 1, 2, 4, 1, 1), is_causal="on"),
)
empty_row = _convention(
    "empty_row",
    "A query that may attend to no key gives zeros, the mean of all values, or NaN, as declared.",
    "torch SDPA ≥ 2.5 and ONNX Attention: zeros; jax.nn.dot_product_attention: mean",
    "A2 A7 A8 A9 D5",
    *EMPTYING,
)
empty_row_bias = _convention(
    "empty_row_bias",
    "A query whose every key has a bias of −inf gives zeros, the mean of all values, or NaN, as declared.",
    "torch SDPA ≥ 2.5: zeros; jax.nn.dot_product_attention: NaN",
    "A2",
    _emptied_by_bias,
)
softcap_order = _convention(
    "softcap_order",
    "A softcap is applied before the bias is added, or after, as declared.",
    "ONNX Attention, opset 24: softcap, then mask and bias",
    "G9",
    _capped_bias,
)
window = _convention(
    "window",
    "A window's left bound is how far it reaches back, or how many keys it holds in all, as declared.",
    "jax.nn local_window_size and flash-attn: reach; ONNX Runtime GroupQueryAttention: count",
    "M2 M4",
    _drawn(Shape(1, 1, 1, 4, 4, 2, 1), 5, window="left"),
    _drawn(Shape(1, 1, 1, 4, 4, 1, 1), 5, window="left"),
)
gqa_map = _convention(
    "gqa_map",
    "Query head h reads key/value head h // (Hq/Hkv) (grouped) or h mod Hkv (tiled), as declared.",
    "Ainslie et al. 2023, GQA, section 2.2: grouped",
    "G8",
    _drawn(Shape(1, 4, 2, 1, 2, 1, 1)),
)
lse_base = _convention(
    "lse_base",
    "The log-sum-exp is a natural logarithm or one to base 2, as declared.",
    "Dao et al. 2022, FlashAttention, algorithm 1: natural; FlashInfer: base 2",
    "L6",
    _drawn(Shape(1, 1, 1, 1, 2, 1, 1), return_lse="on"),
)
empty_row_lse = _convention(
    "empty_row_lse",
    "The log-sum-exp of a query without visible keys is −inf, 0 or the lowest number, as declared.",
    "log 0 = −inf; torch's CPU flash kernel: 0; jax.nn.dot_product_attention: lowest",
    "",
    *(_with_lse(make) for make in EMPTYING),
)


def _turned(backend: Backend, problem: Problem) -> float:
    return hold_like(backend, "rotary_embedding", problem.query)


@invariant(
    "convention.rotary_layout",
    formula='CONVENTIONS["rotary_layout"]',
    source="Su et al. 2021, RoFormer (arXiv:2104.09864), eq. 15: neighbours; GPT-NeoX and LLaMA: halves",
    claims={"rotary_embedding"},
    probes=(_drawn(Shape(1, 2, 2, 4, 4, 8, 2)),),
)
def rotary_layout(backend: Backend, problem: Problem) -> float:
    """The rotary embedding turns neighbouring features together, or those half the width apart, as declared."""
    return check_convention("rotary_layout", backend, problem, _turned)


@invariant(
    "convention.alibi_rule",
    formula='CONVENTIONS["alibi_rule"]',
    source="Press et al. 2022, ALiBi (arXiv:2108.12409), section 3: geometric; its authors' code: two-series",
    catches=("N7",),
    claims={"make_alibi_slopes"},
    probes=(_drawn(),),
)
def alibi_rule(backend: Backend, problem: Problem) -> float:
    """ALiBi's slopes for a number of heads that is no power of two come in two series or in one, as declared."""
    return check_convention("alibi_rule", backend, problem, lambda backend, _: hold_slopes(backend, 6))


def _overflowing(dtype: str) -> Problem:
    """In float16 q·k is 40·40·64 = 102400, above 65504; scaled, it is 12800."""
    problem = Recipe(Shape(1, 1, 1, 2, 3, 64, 64), "float16", "small-integers").problem()
    key = np.full_like(problem.key, 40)
    key[..., 1, :] = 39
    return problem.replace(query=np.full_like(problem.query, 40), key=key)


def _many_digits(dtype: str) -> Problem:
    """Float64 numbers that float32 would round."""
    return Recipe(SQUARE, "float64", "gaussian", 1).problem()


intermediate_dtype = _convention(
    "intermediate_dtype",
    "Scores and weights are kept in the inputs' dtype, in float32 at least, or in float32 at most, as declared.",
    "Dao et al. 2022, FlashAttention: softmax in float32; jax.nn.dot_product_attention: in float32 for float64 too",
    "K2 K3 K4",
    _overflowing,
    _many_digits,
)


def _top_heavy(dtype: str) -> Problem:
    """Every value is three quarters of the largest number: three of them overflow when summed."""
    problem = Recipe(SQUARE, dtype, "small-integers").problem()
    largest = largest_number(dtype)
    return problem.replace(query=np.zeros_like(problem.query), value=np.full_like(problem.value, 0.75 * largest))


@invariant(
    "convention.value_range",
    formula="|O| ≤ max|V| for any finite V",
    source="a mean lies within the hull of what is averaged",
    catches=(),
    probes=(_top_heavy,),
)
def value_range(backend: Backend, problem: Problem) -> float:
    """Values near the largest finite number give finite outputs, unless their sum must stay in range, as declared."""
    require(backend.conventions["value_range"] == "finite")
    moderate = problem.replace(value=(problem.value.astype(np.float64) / 8).astype(problem.value.dtype))
    require(agreement(backend, moderate) is not None)
    try:
        return hold_result(backend, problem, backend.solve(problem))
    except Violation as error:
        raise Contradiction("value_range", "sum", str(error)) from None


@invariant(
    "convention.masked_nonfinite",
    formula="O(K + NaN, V + NaN where hidden) = O(K, V)",
    source="a hidden key has no part in eq. 1; 0·NaN = NaN (IEEE 754-2019, 6.2)",
    catches=("D2", "D3"),
    any_of=HIDING,
)
def masked_nonfinite(backend: Backend, problem: Problem) -> float:
    """NaN or infinity at keys and values never shows where they are hidden, unless declared to propagate."""
    require(backend.conventions["masked_nonfinite"] == "ignored")
    places, rows = unread(backend, problem)
    plain, ratios = backend.solve(problem), []
    finite = np.isfinite(np.asarray(part(plain, "output"), np.float64))
    for payload in (np.nan, np.inf, -np.inf):
        for where in ("key", "value"):
            came = backend.solve(poisoned(problem, places, payload, where))
            try:
                what = f"with {payload} at hidden {where}s, "
                ratios.append(hold_same(backend, problem, came, plain, what, rows))
            except Violation as error:
                leaked = ~np.isfinite(np.asarray(part(came, "output"), np.float64)) & finite & rows[..., None]
                if not leaked.any():  # a number that is wrong is a fault, whatever is declared
                    raise
                raise Contradiction("masked_nonfinite", "propagates", str(error), error.evidence) from None
    return max(ratios)
