"""Decoding: with a cache as without, and always the likeliest token."""

import itertools
from functools import partial
from typing import Any

import numpy as np

from attnspec.specs.catalogue import Violation
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import either, layer_invariant, per_dtype
from attnspec.specs.layers.compare import equal, near
from attnspec.specs.layers.definition import Weights, causal, multi_head
from attnspec.specs.layers.library import Library, float64
from attnspec.specs.layers.rounded import Rounded, exact, unrounded
from attnspec.specs.layers.solution import logits, make_transformer, token_ids, turned
from attnspec.specs.problem import Array

TOKENS = 5
"""How many are decoded greedily."""

CHUNKS = ((0, 2), (2, 3), (3, 5))
"""Several tokens at once, then one, then several after others."""


@layer_invariant(
    "cached_attention",
    formula="steps of [0, 2), [2, 3), [3, 5) = causal attention of all at once",
    source="Shazeer 2019, section 2.4: incremental inference",
    catches=("google/flax#5591", "harvard-edge/cs249r_book#1953", "Mikyx-1/TinyLLM#18"),
    suits=per_dtype,
)
def cached_attention(library: Library, case: Case) -> float:
    """Attention step by step is causal attention over the whole, with rotary positions and grouped heads too."""
    x, ratios = case.tokens(), []
    rotated: list[dict[str, Any]] = [
        {"kv_heads": 2, "key_width": 4, "rotary": layout} for layout in ("interleaved", "half-split")
    ]
    for heads, options in ((case.heads, {}), *((6, each) for each in rotated)):
        layer = library.make("MultiHead", case.width, heads, **options)

        decode = partial(stepped, library.method(layer, "step"))

        p, given = case.parameters(layer.shapes()), exact(x, case.dtype)
        turn = partial(turned, layout=options["rotary"], case=case) if "rotary" in options else same_as_before
        kv_heads = options.get("kv_heads", heads)
        wanted = multi_head(given, given, float64(p), heads, causal(case.length), kv_heads, turn)
        came = np.concatenate(library.call(decode, p, x, None, others(library)), axis=1)
        ratios.append(near(f"steps of {heads} heads, {options}", case, came, wanted))
    return max(ratios)


def same_as_before(x: Rounded) -> Rounded:
    """What no positions do."""
    return x


def others(library: Library) -> int:
    """How many other tokens to try: none where a compiled call can change nothing, and takes long to compile."""
    return 0 if library.arrays.RUNS_COMPILED else 1


def stepped(step: Any, p: Any, tokens: Any, state: Any, others: int) -> tuple[Any, ...]:
    """The outputs for each chunk of ``tokens``; ``others``, tried from the same states, must not change them."""
    outputs = []
    for start, end in CHUNKS:
        chunk = tokens[:, start:end]
        for _ in range(others):
            step(p, 0 * chunk, state)
        output, after = step(p, chunk, state)
        for _ in range(others):
            step(p, 0 * chunk, state)
        outputs.append(output)
        state = after
    return tuple(outputs)


@layer_invariant(
    "cached_decoding",
    formula="logits of step(…, state) = logits of the whole target",
    source="Vaswani et al. 2017, section 3.1, auto-regressive",
    catches=("RobertCsordas/moeut#6", "NVIDIA/FasterTransformer#270"),
    suits=either,
)
def cached_decoding(library: Library, case: Case) -> float:
    """Decoding step by step gives the logits of the whole target at once, whatever else the states are used for."""
    model, (source, target) = make_transformer(library, case), token_ids(case)
    source[0, -2:] = case.padding
    begin, step = library.method(model, "start"), library.method(model, "step")

    def decode(p: Any, source: Any, target: Any) -> tuple[Any, ...]:
        return stepped(step, p, target, begin(p, source), others(library))

    p = case.parameters(model.shapes())
    came = np.concatenate(library.call(decode, p, source, target), axis=1)
    return near("logits", case, came, logits(source, target, float64(p), case))


@layer_invariant(
    "greedy",
    formula="(B, 1 + length): id_{t+1} = argmax logits(id_0 … id_t), padding after the end",
    source="Sutskever et al. 2014, section 3.2, with a beam of 1",
    suits=lambda case: case.norm_first,
)
def greedy(library: Library, case: Case) -> float:
    """Greedy decoding takes the likeliest token and pads each sequence after its own end; a cache changes no token."""
    model, (source, _) = make_transformer(library, case), token_ids(case)
    source[0, -2:] = case.padding
    p = case.parameters(model.shapes())

    def decode(end: int, use_cache: bool, source: Array, begin: int = 1, length: int = TOKENS) -> Array:
        options = {"begin": begin, "end": end, "length": length, "use_cache": use_cache}
        return np.asarray(library.call(library.method(model, "greedy"), p, source, **options))

    def hold_greedy(came: Array, end: int, source: Array) -> None:
        wanted = logits(source, came[:, :-1], float64(p), case)
        likely = wanted.value.max(-1) - 2 * wanted.error.max(-1)
        chosen = np.take_along_axis(wanted.value, came[:, 1:, None], axis=-1)[..., 0]
        if not np.where(ended(came, end)[:, 1:], came[:, 1:] == case.padding, chosen >= likely).all():
            raise Violation(f"greedy: wanted the likeliest token, or {case.padding} after {end}, came {came.tolist()}")

    for attempt in range(ATTEMPTS):
        p["output.bias"][:] = 2 * case.rng("bias", attempt).standard_normal(p["output.bias"].shape)
        p["output.bias"][case.padding] = -100  # padding is never the likeliest
        free = likeliest(source, float64(p), case)
        count, end = ending_apart(free)
        if count == case.batch:
            break
    wanted = np.where(ended(free, end), case.padding, free)
    for order, use_cache in itertools.product((slice(None), slice(None, None, -1)), (True, False)):
        came = decode(end, use_cache, np.ascontiguousarray(source[order]))
        equal("shape of the ids", np.zeros(came.shape), np.zeros(wanted.shape))
        equal("first ids", came[:, 0], np.full(case.batch, 1, came.dtype))
        if not np.array_equal(came, wanted[order]):  # two tokens may be as likely
            hold_greedy(came, end, source[order])
    came = decode(1, True, source, 1, 1)
    return equal("begin = end", came, np.full((case.batch, 2), (1, case.padding), came.dtype))


def likeliest(source: Array, p: Weights, case: Case) -> Array:
    """(B, 1 + TOKENS): 1, then always the likeliest token by definition, without an end."""
    ids = np.ones((case.batch, 1), int)
    for _ in range(TOKENS):
        new = logits(source, ids, p, case, unrounded).value[:, -1:].argmax(-1)
        ids = np.concatenate([ids, new], axis=1)
    return ids


ATTEMPTS = 50
"""Biases of the output that are tried, until each sequence ends at a step of its own."""


def ending_apart(ids: Array) -> tuple[int, int]:
    """How many sequences end with a step or more between them, if the second number is the end; the most there are."""
    found = []
    for end in {int(id) for id in ids[:, 1:].ravel()}:
        steps = sorted(row.tolist().index(end) for row in ids[:, 1:-1] if end in row)
        found.append((sum(late - early > 1 for early, late in itertools.pairwise([-2, *steps])), end))
    return max(found)


def ended(ids: Array, end: int) -> Array:
    """Where an end has come before, in the sequence itself."""
    before: Array = np.cumsum(ids == end, axis=1) - (ids == end) > 0
    return before
