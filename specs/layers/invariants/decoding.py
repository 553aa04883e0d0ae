"""Decoding: with a cache as without, and always the likeliest token."""

from typing import Any

import numpy as np

from attnspec.specs.catalogue import Violation
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import either, layer_invariant, once, per_dtype
from attnspec.specs.layers.compare import equal, near
from attnspec.specs.layers.definition import causal, multi_head
from attnspec.specs.layers.library import Library, float64
from attnspec.specs.layers.rounded import exact
from attnspec.specs.layers.solution import logits, make_transformer, token_ids

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
    """Multi-head attention step by step, with keys and values kept, is causal attention over the whole."""
    layer, x = library.make("MultiHead", case.width, case.heads), case.tokens()
    step = library.method(layer, "step")

    def decode(p: Any, x: Any) -> tuple[Any, ...]:
        past, outputs = None, []
        for start, end in CHUNKS:
            output, past = step(p, x[:, start:end], past)
            outputs.append(output)
        return tuple(outputs)

    p, given = case.parameters(layer.shapes()), exact(x, case.dtype)
    wanted = multi_head(given, given, float64(p), case.heads, causal(case.length))
    return near("steps", case, np.concatenate(library.call(decode, p, x), axis=1), wanted)


@layer_invariant(
    "cached_decoding",
    formula="logits of step(…, state) = logits of the whole target",
    source="Vaswani et al. 2017, section 3.1, auto-regressive",
    catches=("RobertCsordas/moeut#6", "NVIDIA/FasterTransformer#270"),
    suits=either,
)
def cached_decoding(library: Library, case: Case) -> float:
    """Decoding step by step, each layer keeping keys and values, gives the logits of the whole target at once."""
    model, (source, target) = make_transformer(library, case), token_ids(case)
    source[0, -2:] = 0
    begin, step = library.method(model, "start"), library.method(model, "step")

    def decode(p: Any, source: Any, target: Any) -> tuple[Any, ...]:
        state, outputs = begin(p, source), []
        for start, end in CHUNKS:
            output, state = step(p, target[:, start:end], state)
            outputs.append(output)
        return tuple(outputs)

    p = case.parameters(model.shapes())
    came = np.concatenate(library.call(decode, p, source, target), axis=1)
    return near("logits", case, came, logits(source, target, float64(p), case))


@layer_invariant(
    "greedy",
    formula="(B, 1 + length): id_{t+1} = argmax logits(id_0 … id_t), 0 after the end",
    source="Sutskever et al. 2014, section 3.2, with a beam of 1",
    suits=once,
)
def greedy(library: Library, case: Case) -> float:
    """Greedy decoding begins as told, takes the likeliest token, pads after the end; a cache changes no token."""
    model, (source, _) = make_transformer(library, case), token_ids(case)
    source[0, -2:] = 0
    p = case.parameters(model.shapes())
    p["output.bias"][0] = -100  # padding is never the likeliest
    end = int(logits(source, np.ones((case.batch, 1), int), float64(p), case).value[0, 0].argmax())
    for use_cache in (True, False):
        came = library.call(
            library.method(model, "greedy"), p, source, begin=1, end=end, length=TOKENS, use_cache=use_cache
        )
        equal("shape of the ids", np.zeros(came.shape), np.zeros((case.batch, 1 + TOKENS)))
        equal("first ids", came[:, 0], np.full(case.batch, 1, came.dtype))
        wanted = logits(source, came[:, :-1], float64(p), case)
        likely = wanted.value.max(-1) - 2 * wanted.error.max(-1)
        chosen = np.take_along_axis(wanted.value, came[:, 1:, None], axis=-1)[..., 0]
        over = np.cumsum(came[:, :-1] == end, axis=1) > 0
        if not np.where(over, came[:, 1:] == 0, chosen >= likely).all():
            raise Violation(f"greedy, use_cache={use_cache}: wanted the likeliest token, or 0 after {end}, came {came}")
    return 0.0
