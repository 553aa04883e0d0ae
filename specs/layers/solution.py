"""Whole stacks: the library's in the sizes of a case, and what they give by definition."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from attnspec.specs.bound import Precision
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.definition import Visible, Weights, decoder_layer, encoder_layer, linear, part, stack
from attnspec.specs.layers.library import Library
from attnspec.specs.layers.rounded import Rounded, exact
from attnspec.specs.positions import BASE, encoded, rotated


def make(library: Library, name: str, case: Case, **options: object) -> Any:
    """The library's EncoderLayer or DecoderLayer in the sizes of the case."""
    sizes = {"activation": case.activation, "norm_first": case.norm_first, "epsilon": case.epsilon}
    return library.make(name, case.width, case.heads, case.hidden, **sizes, **options)


def last_hidden(case: Case, length: int) -> np.ndarray:
    """(B, 1, 1, length): the last token of each sequence but the first is padding."""
    lengths = np.where(np.arange(case.batch) > 0, length - 1, length)
    return (np.arange(length) < lengths[:, None])[:, None, None, :]


Numbers = Callable[[np.ndarray], Rounded]

COUNT = 2
"""Layers of a Transformer's encoder and of its decoder: one could stand for any."""


def make_transformer(library: Library, case: Case, **options: object) -> Any:
    """The library's Transformer of COUNT encoder and decoder layers, for 11 source and 9 target tokens."""
    sizes: dict[str, Any] = {"activation": case.activation, "norm_first": case.norm_first, **options}
    if case.padding:
        sizes["padding"] = case.padding
    return library.make("Transformer", 11, 9, case.width, case.heads, case.hidden, COUNT, **sizes)


def token_ids(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Source ids (B, S) and target ids (B, n), none of them padding."""
    return case.ids("source", 11, case.source), case.ids("target", 9, case.length)


def logits(source: np.ndarray, target: np.ndarray, p: Weights, case: Case, numbers: Numbers | None = None) -> Rounded:
    """What the Transformer gives by definition, with ε as it is by default."""
    case, visible = replace(case, epsilon=1e-5), (source != case.padding)[:, None, None, :]
    start = exact(np.zeros(1), case.dtype) if numbers is None else numbers(np.zeros(1))
    memory = embedded(start.like(p["source_embedding.weight"][source]), case)
    memory = defined("Encoder", memory, None, part(p, "encoder"), case, COUNT, visible)
    x = embedded(start.like(p["target_embedding.weight"][target]), case)
    x = defined("Decoder", x, memory, part(p, "decoder"), case, COUNT, visible)
    return linear(x, part(p, "output"))


def embedded(rows: Rounded, case: Case) -> Rounded:
    """E[ids]·√E plus the sinusoidal encoding, with the bounds of ``specs.positions``."""
    x = rows * rows.like(math.sqrt(case.width))
    table = encoded(x.value, Precision.of(case.dtype, "input"))
    if not x.unit:
        return x.carried(table.values, x.terms)
    return x.carried(table.values, x.terms).off_by(table.bound + x.unit * np.abs(x.value))


def defined(
    kind: str,
    x: Rounded,
    memory: Rounded | None,
    p: Weights,
    case: Case,
    count: int = 2,
    visible: Visible = None,
    own: Visible = None,
) -> Rounded:
    """A stack of ``count`` encoder or decoder layers by definition; ``own`` is the mask of a decoder's own tokens."""

    def layer(y: Rounded, q: Weights) -> Rounded:
        if memory is None or kind == "Encoder":
            return encoder_layer(y, q, case, visible)
        return decoder_layer(y, memory, q, case, visible, own)

    return stack(x, p, count, layer, case)


def turned(x: Rounded, layout: str, case: Case, base: float = BASE) -> Rounded:
    """Turned by the positions; so are its error terms, a rotation being linear."""
    precision = Precision.of(case.dtype, "input")
    exactly = rotated(x.value, precision, layout, base=base)
    flat = x.terms.reshape(-1, *x.value.shape[1:])
    terms = rotated(flat, precision, layout, base=base).values.reshape(x.terms.shape)
    return x.carried(exactly.values, terms).off_by(exactly.bound)
