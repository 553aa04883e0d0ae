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
    """Self-attention projects to queries, keys and values, with or without a bias, a mask or causality."""
    x, n, ratios = case.tokens(), case.length, []
    mask = case.mask(1, n, n)
    for bias, is_causal, seen in ((True, False, None), (False, True, None), (True, False, mask)):
        layer = library.make("SelfAttention", case.width, 4, 6, bias)
        p = case.parameters(layer.shapes())
        given = exact(x, case.dtype)
        query, key, value = (
            linear(given, part(float64(p), name)).map(lambda a: a[..., None, :, :])
            for name in ("query", "key", "value")
        )
        wanted = attention(query, key, value, causal(n) if is_causal else seen).map(lambda a: a[..., 0, :, :])
        came = library.call(layer, p, x, mask=seen, is_causal=is_causal)
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
    """Each head attends by itself over its own part of the features, by its own mask; all are then projected."""
    x, layer = case.tokens(), library.make("MultiHead", case.width, case.heads)
    p, lengths = case.parameters(layer.shapes()), np.arange(case.batch) + case.length - case.batch + 1
    mask = (np.arange(case.length) < lengths[:, None])[:, None, None, :]
    given = exact(x, case.dtype)
    ratios = [near("all seen", case, library.call(layer, p, x), multi_head(given, given, float64(p), case.heads))]
    of_heads = (case.mask(heads, case.length, case.length) for heads in (1, case.heads))
    for seen, is_causal in zip((mask, *of_heads), (True, False, True), strict=True):
        wanted = multi_head(given, given, float64(p), case.heads, seen & causal(case.length) if is_causal else seen)
        came = library.call(layer, p, x, mask=seen, is_causal=is_causal)
        ratios.append(near(f"mask {seen.shape}, is_causal={is_causal}", case, came, wanted))
    return max(ratios)


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
    ratios = []
    for mask in (None, case.mask(case.heads, case.length, case.source)):
        wanted = multi_head(given, given.like(source), float64(p), case.heads, mask)
        came = library.call(layer, p, x, source=source, mask=mask)
        ratios.append(near("all seen" if mask is None else "mask of each head", case, came, wanted))
    return max(ratios)


@layer_invariant(
    "two_forms",
    formula="h maps of width d_k = one map of width h·d_k, split",
    source=PAPER + ".2, figure 2, and the code of its authors",
    catches=("reczoo/FuxiCTR#30",),
    suits=per_dtype,
)
def two_forms(library: Library, case: Case) -> float:
    """Multi-head attention by maps of its own for each head is that by one map and a split, on the same weights."""
    mask, ratios = case.mask(1, case.length, case.length), []
    for heads, kv_heads, key, value, seen in ((case.heads, case.heads, 4, 4, None), (6, 2, 4, 3, mask)):
        one = library.make("MultiHead", case.width, heads, kv_heads, key_width=key, value_width=value)
        many = library.make("PerHead", case.width, heads, key, value)
        p = case.parameters(one.shapes())
        apart = library.call(library.has("per_head"), one, p)
        for name, again in library.call(library.has("one_map"), many, apart).items():
            grouped = name.startswith(("key", "value"))
            equal(f"{name} after both conversions", again, repeated(p[name], kv_heads, heads) if grouped else p[name])
        given, is_causal = exact(case.tokens(), case.dtype), seen is not None
        visible = None if seen is None else causal(case.length) & seen
        wanted = multi_head(given, given, float64(p), heads, visible, kv_heads)
        came, other = (
            library.call(form, q, case.tokens(), mask=seen, is_causal=is_causal)
            for form, q in ((many, apart), (one, p))
        )
        ratios.append(near(f"{heads} maps, is_causal={is_causal}", case, came, wanted))
        ratios.append(same("the same by one map", case, other, came, wanted))
    return max(ratios)


def repeated(rows: np.ndarray, kv_heads: int, heads: int) -> np.ndarray:
    """The rows of each key/value head once for every query head that reads it."""
    return np.repeat(rows.reshape(kv_heads, -1, *rows.shape[1:]), heads // kv_heads, 0).reshape(-1, *rows.shape[1:])
