"""Self-attention, many heads, cross-attention: their definitions, and what follows from them."""

import numpy as np

from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import layer_invariant, per_dtype
from attnspec.specs.layers.compare import equal, near, same
from attnspec.specs.layers.definition import attention, causal, linear, multi_head, part
from attnspec.specs.layers.library import Library, float64
from attnspec.specs.layers.rounded import exact

PAPER = "Vaswani et al. 2017, section 3.2"


@layer_invariant(
    "self_attention",
    formula="softmax(QKᵀ/√d_k)·V, Q = x·W_Qᵀ + b_Q, K and V likewise",
    source=PAPER + ".1, equation 1",
    suits=per_dtype,
)
def self_attention(library: Library, case: Case) -> float:
    """Self-attention projects to queries, keys and values, with or without a bias; values may be wider than keys."""
    x, n, ratios = case.tokens(), case.length, []
    for bias, is_causal in ((True, False), (False, True)):
        layer = library.make("SelfAttention", case.width, 4, 6, bias)
        p = case.parameters(layer.shapes())
        given = exact(x, case.dtype)
        query, key, value = (
            linear(given, part(float64(p), name)).map(lambda a: a[..., None, :, :])
            for name in ("query", "key", "value")
        )
        wanted = attention(query, key, value, causal(n) if is_causal else None).map(lambda a: a[..., 0, :, :])
        came = library.call(layer, p, x, is_causal=is_causal)
        ratios.append(near("self-attention", case, came, wanted))
    return max(ratios)


@layer_invariant(
    "multi_head",
    formula="Concat(head_1, …, head_h)·W_Oᵀ, head_i = A(Q_i, K_i, V_i)",
    source=PAPER + ".2",
    catches=(
        "Kyubyong/transformer#117",
        "MarcoMeter/episodic-transformer-memory-ppo#22",
        "jwallbridge/translob#4",
        "ajhalthor/Transformer-Neural-Network#8",
        "lsdefine/attention-is-all-you-need-keras#36",
    ),
    suits=per_dtype,
)
def multi_head_layer(library: Library, case: Case) -> float:
    """Each head attends by itself over its own part of the features; then all are concatenated and projected."""
    x, layer = case.tokens(), library.make("MultiHead", case.width, case.heads)
    p, lengths = case.parameters(layer.shapes()), np.arange(case.batch) + case.length - case.batch + 1
    mask = (np.arange(case.length) < lengths[:, None])[:, None, None, :]
    given = exact(x, case.dtype)
    plain = near("all seen", case, library.call(layer, p, x), multi_head(given, given, float64(p), case.heads))
    wanted = multi_head(given, given, float64(p), case.heads, mask & causal(case.length))
    came = library.call(layer, p, x, mask=mask, is_causal=True)
    return max(plain, near("mask and causal", case, came, wanted))


@layer_invariant(
    "grouped_heads",
    formula="query head i reads key/value head i // (h // h_kv)",
    source="Ainslie et al. 2023, GQA, section 2.2; Shazeer 2019, MQA",
    catches=("onnx/onnx#7274", "EricLBuehler/candle-vllm#52"),
    suits=per_dtype,
)
def grouped_heads(library: Library, case: Case) -> float:
    """Neighbouring query heads share a key/value head, one head for all included; value heads may be narrower."""
    x, ratios = case.tokens(), []
    for kv_heads in (2, 1):
        layer = library.make("MultiHead", case.width, 6, kv_heads, key_width=4, value_width=3)
        p = case.parameters(layer.shapes())
        given = exact(x, case.dtype)
        wanted = multi_head(given, given, float64(p), 6, None, kv_heads)
        ratios.append(near(f"{kv_heads} key/value heads", case, library.call(layer, p, x), wanted))
    return max(ratios)


@layer_invariant(
    "cross_attention",
    formula="A(x·W_Qᵀ, source·W_Kᵀ, source·W_Vᵀ)",
    source=PAPER + ".3",
    suits=per_dtype,
)
def cross_attention(library: Library, case: Case) -> float:
    """In cross-attention queries come from the target, keys and values from the source, of another length and width."""
    x, source = case.tokens(), case.tokens("source", case.source, 8)
    layer = library.make("MultiHead", case.width, case.heads, source_width=8)
    p = case.parameters(layer.shapes())
    given = exact(x, case.dtype)
    wanted = multi_head(given, given.like(source), float64(p), case.heads)
    return near("cross-attention", case, library.call(layer, p, x, source=source), wanted)


@layer_invariant(
    "two_forms",
    formula="h maps of width d_k = one map of width h·d_k, split",
    source=PAPER + ".2, figure 2, and the code of its authors",
    catches=("reczoo/FuxiCTR#30",),
    suits=per_dtype,
)
def two_forms(library: Library, case: Case) -> float:
    """Multi-head attention by maps of its own for each head is that by one map and a split, on the same weights."""
    x = case.tokens()
    one, many = (library.make(name, case.width, case.heads) for name in ("MultiHead", "PerHead"))
    p = case.parameters(one.shapes())
    apart = library.call(library.has("per_head"), one, p)
    again = library.call(library.has("one_map"), many, apart)
    for name in p:
        equal(f"{name} after both conversions", again.get(name), p[name])
    given = exact(x, case.dtype)
    wanted = multi_head(given, given, float64(p), case.heads)
    return same("h maps", case, library.call(many, apart, x), library.call(one, p, x), wanted)
