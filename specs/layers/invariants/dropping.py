"""Where dropout is: on what each sub-layer gives and on the embeddings, each time with other numbers dropped."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from attnspec.specs.catalogue import Violation, hold
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import either, layer_invariant
from attnspec.specs.layers.compare import near
from attnspec.specs.layers.definition import layer_norm, part
from attnspec.specs.layers.library import Library, float64, taken
from attnspec.specs.layers.rounded import exact
from attnspec.specs.layers.solution import COUNT, logits, make, make_transformer, token_ids
from attnspec.specs.problem import Array

SIGMAS = 6.0
"""A correct generator is outside of so many standard deviations once in 10⁹ draws."""

RATE = 0.5
LAST = {
    "Encoder": ("attention.output", "feed_forward.outer"),
    "Decoder": ("attention.output", "cross_attention.output", "feed_forward.outer"),
}
"""The last map of each sub-layer: its bias is all that comes out where all else is 0."""


def scattered(what: str, kept: Array) -> None:
    """Violation if sequences, tokens or features, the axes of ``kept``, are all dropped alike."""
    for axis, name in enumerate(("sequence", "token", "feature")):
        if (kept == kept.take([0], axis)).all():
            raise Violation(f"{what}: wanted numbers dropped one by one, came the same for every {name}")


def apart(patterns: dict[str, Array]) -> None:
    """Violation if the same is dropped in two places."""
    for (one, kept), (other, also) in itertools.combinations(patterns.items(), 2):
        if np.array_equal(kept, also):
            raise Violation(f"dropout of {one} and of {other}: wanted each by itself, came the same")


def blank(case: Case, shapes: dict[str, tuple[int, ...]], bias: str) -> dict[str, Array]:
    """All parameters 0 but the scales of LayerNorm and one bias, which is 1 for each feature but the first."""
    p = {name: np.full(shape, float("norm.weight" in name), case.dtype) for name, shape in shapes.items()}
    p[bias][1:] = 1
    return p


@layer_invariant(
    "dropout_places",
    formula="x + m⊙f(x)/(1 − p), or norm of it; m of each sub-layer, layer, sequence, token and feature by itself",
    source="Vaswani et al. 2017, section 5.4: to the output of each sub-layer, before it is added to the input",
    suits=either,
)
def dropout_places(library: Library, case: Case) -> float:
    """A stack drops what each of its sub-layers gives, and no residual; nowhere the same numbers."""
    memory, ratios = case.tokens("memory", case.source), []
    x = np.zeros((case.batch, 20, case.width), case.dtype)
    x[..., 0] = 1000  # a first feature that only a dropped residual would lose
    for kind, maps in LAST.items():
        layer, given = make(library, f"{kind}Layer", case, dropout=RATE), (x, memory) if kind == "Decoder" else (x,)
        taken(f"{kind}Layer", layer, ({}, *given), {"seed": 1})
        whole = library.make(kind, layer, COUNT)
        patterns = {}
        for name in (f"layers.{i}.{last}.bias" for i in range(COUNT) for last in maps):
            p = blank(case, whole.shapes(), name)
            came = library.call(whole, p, *given, seed=1)
            patterns[name], what = told(came), f"{kind}, dropout of {name}"
            scattered(what, patterns[name])
            ratios.append(rate_held(what, patterns[name]))
            if case.norm_first:
                left = np.concatenate([x[..., :1], 2.0 * patterns[name]], axis=-1)
                ratios.append(
                    near(what, case, came, layer_norm(exact(left, case.dtype), part(p, "norm"), case.epsilon))
                )
            if (came.argmax(-1) != 0).any():
                raise Violation(f"{what}: wanted the residual whole, came a large feature that was dropped")
        apart(patterns)
    return max(ratios)


def told(came: Array) -> Array:
    """Which features but the first were kept: LayerNorm leaves their order."""
    rest = came[..., 1:]
    kept: Array = rest > (rest.max(-1, keepdims=True) + rest.min(-1, keepdims=True)) / 2
    return kept


def rate_held(what: str, kept: Array) -> float:
    """So many kept as the rate says, within SIGMAS."""
    number = kept.size
    wanted, off = np.asarray((1 - RATE) * number), SIGMAS * math.sqrt(RATE * (1 - RATE) * number)
    return hold(f"{what}, number kept", np.asarray(float(kept.sum())), wanted, off)


@layer_invariant(
    "dropout_transformer",
    formula="logits do not depend on a dropped number: of embeddings + positions, of the last sub-layers",
    source="Vaswani et al. 2017, section 5.4: and to the sums of the embeddings and the positional encodings",
    suits=lambda case: case.norm_first,
)
def dropout_transformer(library: Library, case: Case) -> float:
    """In training a Transformer drops from the embeddings of both sides, in the encoder and in the decoder."""
    model, (source, target) = make_transformer(library, case, dropout=RATE), token_ids(case)
    source[:, 1:] = case.padding  # one token, through which all of the source has to go
    source[:, 0], target[:, 0], last = 1, 1, f"layers.{COUNT - 1}.feed_forward.outer.bias"
    p, patterns = case.parameters(model.shapes()), {}
    plain = library.call(model, p, source, target, seed=1)[:, 0]
    places: dict[str, Callable[[int], tuple[int, ...]]] = {
        "source_embedding.weight": lambda j: (1, j),
        "target_embedding.weight": lambda j: (1, j),
        f"encoder.{last}": lambda j: (j,),
        f"decoder.{last}": lambda j: (j,),
    }
    for name, at in places.items():
        kept = []
        for j in range(case.width):
            other = {**p, name: p[name].copy()}
            other[name][at(j)] += 1
            kept.append((library.call(model, other, source, target, seed=1)[:, 0] != plain).any(-1))
        patterns[name] = np.stack(kept, axis=1)  # (B, width)
        if patterns[name].all() or not patterns[name].any():
            raise Violation(f"{name}: wanted some of it dropped, came {int(patterns[name].sum())} kept")
    apart(patterns)
    return sum_dropped(library, model, case, source, target)


def sum_dropped(library: Library, model: Any, case: Case, source: Array, target: Array) -> float:
    """Where embedding and position cancel each other, dropping their sum does nothing; it doubles what is off."""
    p = blank(case, model.shapes(), "output.bias")
    p["output.weight"] = case.parameters({"output.weight": p["output.weight"].shape})["output.weight"]
    p["target_embedding.weight"][1, 1::2] = -1 / math.sqrt(case.width)  # position 0 is (0, 1, 0, 1, …)
    wanted = logits(source, target, float64(p), case).at(slice(1))
    came = library.call(model, p, source, target, seed=1)[:, :1]
    return hold("logits where the embedding is minus the position", came, wanted.value, 2 * wanted.error)
