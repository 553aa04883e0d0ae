"""What a layer may be given beyond the paper: no bias, grouped heads, rotary positions, a last LayerNorm, a bias."""

from functools import partial

import numpy as np

from attnspec.specs.catalogue import Violation
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import either, layer_invariant, once
from attnspec.specs.layers.compare import near
from attnspec.specs.layers.definition import (
    Weights,
    causal,
    decoder_layer,
    encoder_layer,
    feed_forward,
    layer_norm,
    multi_head,
    part,
    residual,
)
from attnspec.specs.layers.library import Library, float64
from attnspec.specs.layers.rounded import Rounded, exact
from attnspec.specs.layers.solution import make, turned


def hold_unbiased(what: str, shapes: dict[str, tuple[int, ...]]) -> None:
    """Violation if a map has a bias; LayerNorms keep theirs."""
    biased = [name for name in shapes if name.endswith("bias") and "norm" not in name]
    if biased:
        raise Violation(f"{what}(…, bias=False): came {', '.join(biased)}")


@layer_invariant(
    "grouped_rotary_layer",
    formula="the encoder layer, its attention with h_kv < h heads and turned queries and keys, no map with a bias",
    source="Touvron et al. 2023, Llama 2, section 2.2; Su et al. 2021; Ainslie et al. 2023",
    suits=once,
)
def grouped_rotary_layer(library: Library, case: Case) -> float:
    """An encoder layer passes on kv_heads and rotary, and has no bias if told so; nor has a decoder layer."""
    x, ratios = case.tokens(), []
    for layout in ("interleaved", "half-split"):
        layer = make(library, "EncoderLayer", case, kv_heads=1, rotary=layout, bias=False)
        hold_unbiased("EncoderLayer", layer.shapes())
        p = case.parameters(layer.shapes())
        turn = partial(turned, layout=layout, case=case)

        def attend(y: Rounded, q: Weights, turn: partial[Rounded] = turn) -> Rounded:
            return multi_head(y, y, q, case.heads, causal(case.length), 1, turn)

        y = residual(exact(x, case.dtype), float64(p), "attention", case, attend)
        wanted = residual(y, float64(p), "feed_forward", case, lambda y, q: feed_forward(y, q, case.activation))
        ratios.append(near(layout, case, library.call(layer, p, x, is_causal=True), wanted))
    hold_unbiased("DecoderLayer", make(library, "DecoderLayer", case, bias=False).shapes())
    return max(ratios)


@layer_invariant(
    "final_norm",
    formula="final_norm=True: norm(layer(x)); False: layer(x)",
    source="Xiong et al. 2020, section 3: a LayerNorm after the last layer of pre-norm; Radford et al. 2019",
    suits=either,
)
def final_norm(library: Library, case: Case) -> float:
    """A stack has a LayerNorm at its end, or none, as it is told, against what pre-norm or post-norm would have."""
    x, memory, ratios = case.tokens(), case.tokens("memory", case.source), []
    for kind in ("Encoder", "Decoder"):
        whole = library.make(kind, make(library, f"{kind}Layer", case), 1, final_norm=not case.norm_first)
        p, given = case.parameters(whole.shapes()), exact(x, case.dtype)
        q = part(float64(p), "layers.0")
        decoder = kind == "Decoder"
        layer = decoder_layer(given, given.like(memory), q, case) if decoder else encoder_layer(given, q, case)
        wanted = layer if case.norm_first else layer_norm(layer, part(float64(p), "norm"), case.epsilon)
        came = library.call(whole, p, x, *((memory,) if decoder else ()))
        ratios.append(near(kind, case, came, wanted))
    return max(ratios)


@layer_invariant(
    "rotary_base",
    formula="angles p·base^(−2i/d)",
    source="Su et al. 2021, RoFormer, section 3.2.2; Rozière et al. 2023, Code Llama, section 2.4, base 10⁶",
    suits=once,
)
def rotary_base(library: Library, case: Case) -> float:
    """The base of rotary positions is the one that is given, in both layouts."""
    x, ratios = case.tokens(), []
    for layout in ("interleaved", "half-split"):
        layer = library.make("MultiHead", case.width, 2, rotary=layout, rotary_base=50.0)
        p, given = case.parameters(layer.shapes()), exact(x, case.dtype)
        turn = partial(turned, layout=layout, case=case, base=50.0)
        wanted = multi_head(given, given, float64(p), 2, None, turn=turn)
        ratios.append(near(layout, case, library.call(layer, p, x), wanted))
    return max(ratios)


@layer_invariant(
    "score_bias",
    formula="softmax(QKᵀ/√d + bias)·V",
    source="Raffel et al. 2020, T5, section 2.1; Press et al. 2022, ALiBi, section 3",
    suits=once,
)
def score_bias(library: Library, case: Case) -> float:
    """A bias of each head, query and key is added to the scores, beside a mask too."""
    layer, x, n = library.make("MultiHead", case.width, case.heads), case.tokens(), case.length
    bias = case.rng("bias").standard_normal((case.heads, n, n)).astype(case.dtype)[None]
    p, given, ratios = case.parameters(layer.shapes()), exact(x, case.dtype), []
    for mask in (None, case.mask(1, n, n)):
        wanted = multi_head(given, given, float64(p), case.heads, mask, bias=np.asarray(bias, np.float64))
        ratios.append(near("bias", case, library.call(layer, p, x, mask=mask, bias=bias), wanted))
    return max(ratios)
