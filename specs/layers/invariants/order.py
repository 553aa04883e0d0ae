"""Order: none without positions, and the positions that bring it in."""

from functools import partial
from typing import Any

import numpy as np

from attnspec.specs.bound import Precision
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import layer_invariant, per_dtype
from attnspec.specs.layers.compare import differ, equal, near, same
from attnspec.specs.layers.definition import causal, multi_head
from attnspec.specs.layers.library import Library, float64
from attnspec.specs.layers.rounded import Rounded, exact
from attnspec.specs.layers.solution import defined, make, turned
from attnspec.specs.positions import encoded


def encoder(library: Library, case: Case, x: np.ndarray) -> tuple[Any, dict[str, np.ndarray], Rounded]:
    """The library's encoder of two layers, its parameters, and what it gives for ``x`` by definition."""
    layer = library.make("Encoder", make(library, "EncoderLayer", case), 2)
    p = case.parameters(layer.shapes())
    return layer, p, defined("Encoder", exact(x, case.dtype), None, float64(p), case)


def other_order(case: Case) -> np.ndarray:
    """A permutation of the tokens that leaves none in its place."""
    return np.roll(np.arange(case.length)[::-1], 2)


@layer_invariant(
    "permutation",
    formula="encoder(P·x) = P·encoder(x) for every permutation P of the tokens",
    source="Lee et al. 2019, Set Transformer, property 1",
)
def permutation(library: Library, case: Case) -> float:
    """Without positions an encoder does not see the order: permuted tokens give permuted outputs."""
    x, order = case.tokens(), other_order(case)
    layer, p, wanted = encoder(library, case, x)
    plain, moved = (library.call(layer, p, tokens) for tokens in (x, x[:, order]))
    return same("permuted", case, moved, plain[:, order], wanted.at(order))


@layer_invariant(
    "batch",
    formula="encoder(x)[b] depends on x[b] alone",
    source="a batch is there for speed",
    catches=("IBM/TabFormer#14", "gazelle93/Transformer-Various-Positional-Encoding#1"),
    suits=per_dtype,
)
def batch(library: Library, case: Case) -> float:
    """What a sequence becomes depends on nothing else in its batch, nor on its place there."""
    x = case.tokens()
    layer, p, wanted = encoder(library, case, x)
    plain, turned = (library.call(layer, p, tokens) for tokens in (x, x[::-1]))
    ratio = same("batch reversed", case, turned, plain[::-1], wanted.map(lambda a: a[..., ::-1, :, :]))
    other = np.concatenate([x[:1], case.tokens("other")[1:]])
    first = wanted.map(lambda a: a[..., :1, :, :])
    return max(ratio, same("first sequence", case, library.call(layer, p, other)[:1], plain[:1], first))


@layer_invariant(
    "positions",
    formula="x + PE[offset + i]; PE[p, 2i] = sin(p/10000^(2i/E)), PE[p, 2i+1] = cos; or a row of a table",
    source="Vaswani et al. 2017, section 3.5; Gehring et al. 2017, section 3.1",
    catches=("tanjimin/C.Origami#42", "gmongaras/Diffusion_models_from_scratch#10", "songyangco/GETNext#2"),
    suits=per_dtype,
)
def positions(library: Library, case: Case) -> float:
    """Sinusoidal and learned positions add, to each token, what belongs to its place in the sequence."""
    x, ratios = case.tokens(), []
    for offset in (0, 3):
        layer = library.make("SinusoidalPositions", case.width)
        table = encoded(x, Precision.of(case.dtype, "input"), offset)
        given = exact(x, case.dtype)
        wanted = given.carried(table.values, given.terms).off_by(table.bound)
        ratios.append(near("sinusoidal", case, library.call(layer, {}, x, offset=offset), wanted))
        layer = library.make("LearnedPositions", case.length + 3, case.width)
        p = case.parameters(layer.shapes())
        rows = p["weight"][offset : offset + case.length]
        equal("learned", library.call(layer, p, x, offset=offset), x + rows)  # IEEE 754 rounds one sum in one way
    return max(ratios)


@layer_invariant(
    "positions_order",
    formula="encoder(P·x + PE) ≠ P·encoder(x + PE)",
    source="Vaswani et al. 2017, section 3.5: some information about the order must be injected",
    suits=per_dtype,
)
def positions_order(library: Library, case: Case) -> float:
    """With sinusoidal or learned positions the order counts: permuted tokens give other outputs."""
    x, order = case.tokens(), other_order(case)
    layer, p, wanted = encoder(library, case, x)
    for name, sizes in (("SinusoidalPositions", ()), ("LearnedPositions", (case.length,))):
        places = library.make(name, *sizes, case.width)
        q = case.parameters(places.shapes())
        plain, moved = (library.call(layer, p, library.call(places, q, tokens)) for tokens in (x, x[:, order]))
        differ(name, moved, plain[:, order], wanted)
    return 0.0


@layer_invariant(
    "rotary",
    formula="scores ⟨R_i·q_i, R_j·k_j⟩/√d, R_p turning each pair of features by p·10000^(−2i/d)",
    source="Su et al. 2021, RoFormer, equations 16 and 34",
    catches=("mlfoundations/open_lm#4",),
    suits=per_dtype,
)
def rotary(library: Library, case: Case) -> float:
    """Rotary multi-head attention turns queries and keys by their positions, and nothing else, in both layouts."""
    x, ratios = case.tokens(), []
    for layout in ("interleaved", "half-split"):
        layer = library.make("MultiHead", case.width, 2, rotary=layout)
        p = case.parameters(layer.shapes())
        given = exact(x, case.dtype)
        turn = partial(turned, layout=layout, case=case)
        wanted = multi_head(given, given, float64(p), 2, causal(case.length), turn=turn)
        ratios.append(near(layout, case, library.call(layer, p, x, is_causal=True), wanted))
    return max(ratios)
