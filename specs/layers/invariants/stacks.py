"""Encoder, decoder and Transformer as a whole: their definitions, and N layers = N applications."""

import numpy as np

from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import either, layer_invariant
from attnspec.specs.layers.compare import near, same
from attnspec.specs.layers.definition import causal, decoder_layer, encoder_layer, part
from attnspec.specs.layers.library import Library, float64, taken
from attnspec.specs.layers.rounded import exact
from attnspec.specs.layers.solution import defined, last_hidden, logits, make, make_transformer, token_ids

FIGURE = "Vaswani et al. 2017, section 3.1, figure 1; Xiong et al. 2020, section 3, for pre-norm"


@layer_invariant(
    "encoder_layer",
    formula="post-norm: x ← norm(x + f(x)); pre-norm: x ← x + f(norm(x)); f attention, then feed-forward",
    source=FIGURE,
    catches=(
        "Howuhh/faster-trajectory-transformer#3",
        "mashrurmorshed/Torch-KWT#13",
        "tracel-ai/burn#1056",
        "SHI-Labs/Compact-Transformers#25",
        "NVIDIA-NeMo/Speech#4350",
        "facebookresearch/xformers#233",
    ),
)
def encoder_layer_whole(library: Library, case: Case) -> float:
    """An encoder layer is self-attention and feed-forward, each with a residual and LayerNorm after or before it."""
    layer, x, mask = make(library, "EncoderLayer", case), case.tokens(), last_hidden(case, case.length)
    p = case.parameters(layer.shapes())
    wanted = encoder_layer(exact(x, case.dtype), float64(p), case, mask)
    return near("encoder layer", case, library.call(layer, p, x, mask=mask), wanted)


@layer_invariant(
    "decoder_layer",
    formula="causal self-attention, cross-attention, feed-forward; each with residual and norm",
    source=FIGURE,
)
def decoder_layer_whole(library: Library, case: Case) -> float:
    """A decoder layer is causal self-attention, cross-attention to the memory and feed-forward, in this order."""
    layer, x, memory = make(library, "DecoderLayer", case), case.tokens(), case.tokens("memory", case.source)
    p, mask = case.parameters(layer.shapes()), last_hidden(case, case.source)
    given = exact(x, case.dtype)
    wanted = decoder_layer(given, given.like(memory), float64(p), case, mask)
    return near("decoder layer", case, library.call(layer, p, x, memory, memory_mask=mask), wanted)


@layer_invariant(
    "stack",
    formula="Encoder(layer, N) = layer_N ∘ … ∘ layer_1, each with its own parameters",
    source=FIGURE,
    catches=("espnet/espnet#1278", "elisabettafedele/superdec#2", "habla-liaa/encodecmae#3"),
    suits=either,
)
def stack_is_applications(library: Library, case: Case) -> float:
    """A stack of N is N applications of the layer, and with pre-norm a LayerNorm at the end; so for the decoder."""
    x, memory, ratios = case.tokens(), case.tokens("memory", case.source), []
    for kind in ("Encoder", "Decoder"):
        layer = make(library, f"{kind}Layer", case)
        whole, more = library.make(kind, layer, 2), (memory,) if kind == "Decoder" else ()
        p = case.parameters(whole.shapes())
        step: np.ndarray = x
        for i in range(2):
            step = library.call(layer, part(p, f"layers.{i}"), step, *more)
        if case.norm_first:
            step = library.call(library.make("LayerNorm", case.width, case.epsilon), part(p, "norm"), step)
        given = exact(x, case.dtype)
        wanted = defined(kind, given, given.like(memory), float64(p), case)
        ratios.append(same(kind, case, library.call(whole, p, x, *more), step, wanted))
    return max(ratios)


@layer_invariant(
    "transformer",
    formula="decoder(embed(target), encoder(embed(source)))·Wᵀ + b, embed = E[ids]·√E + PE",
    source="Vaswani et al. 2017, sections 3.1, 3.4 and 3.5",
    suits=either,
)
def transformer(library: Library, case: Case) -> float:
    """The Transformer is the encoder of the source and the decoder of the target, from token ids to logits."""
    model = make_transformer(library, case)
    p, (source, target) = case.parameters(model.shapes()), token_ids(case)
    source[0, -2:] = case.padding
    came = library.call(model, p, source, target)
    return near("logits", case, came, logits(source, target, float64(p), case))


@layer_invariant(
    "encoder_causal",
    formula="Encoder(x, mask, is_causal): query i of head h sees key j where mask[b, h, i, j] and j ≤ i",
    source="Vaswani et al. 2017, section 3.2.3; Radford et al. 2018, a stack of causal layers",
    suits=lambda case: case.norm_first,
)
def encoder_causal(library: Library, case: Case) -> float:
    """In every layer of an encoder causality holds when asked for, alone and beside a mask of each head and query."""
    one, x, n = make(library, "EncoderLayer", case), case.tokens(), case.length
    taken("EncoderLayer", one, ({}, x), {"mask": x, "is_causal": True})
    layer = library.make("Encoder", one, 2)
    p, ratios = case.parameters(layer.shapes()), []
    for mask in (None, case.mask(case.heads, n, n)):
        visible = causal(n) if mask is None else causal(n) & mask
        wanted = defined("Encoder", exact(x, case.dtype), None, float64(p), case, 2, visible)
        came = library.call(layer, p, x, mask=mask, is_causal=True)
        ratios.append(near("causal" if mask is None else "mask and causal", case, came, wanted))
    return max(ratios)


@layer_invariant(
    "decoder_masks",
    formula="Decoder(x, memory, mask, memory_mask): own tokens where mask[b, h, i, j] and j ≤ i; memory by memory_mask",
    source=FIGURE,
    suits=lambda case: case.norm_first,
)
def decoder_masks(library: Library, case: Case) -> float:
    """A mask of a decoder's own tokens joins causality in every layer, and that of the memory may be each query's."""
    x, memory = case.tokens(), case.tokens("memory", case.source)
    one = make(library, "DecoderLayer", case)
    taken("DecoderLayer", one, ({}, x, memory), {"mask": x, "memory_mask": memory})
    layer = library.make("Decoder", one, 2)
    masks = [case.mask(case.heads, case.length, keys) for keys in (case.length, case.source)]
    p, given = case.parameters(layer.shapes()), exact(x, case.dtype)
    wanted = defined("Decoder", given, given.like(memory), float64(p), case, 2, masks[1], masks[0])
    came = library.call(layer, p, x, memory, mask=masks[0], memory_mask=masks[1])
    return near("decoder with masks", case, came, wanted)
