"""What each layer computes, by its equation, on numbers that know how far they may be off.

``p`` are a layer's parameters in float64 by name. Shapes: B batch entries, n tokens, S source tokens, E width.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnspec.specs.bound import ROUNDINGS, gamma
from attnspec.specs.layers.rounded import Rounded, product
from attnspec.specs.oracle import Floats

Weights = Mapping[str, Floats]
Visible = NDArray[np.bool_] | None

erf = np.vectorize(math.erf, otypes=[np.float64])


def part(p: Weights, name: str) -> dict[str, Floats]:
    """The parameters of a part, by the part's own names."""
    return {key[len(name) + 1 :]: value for key, value in p.items() if key.startswith(f"{name}.")}


def linear(x: Rounded, p: Weights) -> Rounded:
    """x·Wᵀ + b."""
    weight, bias = np.asarray(p["weight"], np.float64), np.asarray(p.get("bias", 0.0), np.float64)
    size = np.abs(x.value) @ np.abs(weight).T + np.abs(bias)
    y = x.carried(x.value @ weight.T + bias, x.terms @ weight.T)
    return y.off_by(gamma(weight.shape[1] + 2, x.unit) * size)


def layer_norm(x: Rounded, p: Weights, epsilon: float) -> Rounded:
    """(x − μ)/√(σ² + ε)·weight + bias: Ba et al. (2016), equations 3 and 4."""
    centred = x - x.mean()
    deviation = ((centred * centred).mean() + x.like(epsilon)).sqrt()
    return centred / deviation * x.like(p["weight"]) + x.like(p["bias"])


def activated(x: Rounded, kind: str) -> Rounded:
    """ReLU, which is exact; GELU and its approximation by tanh, which lose 9u·|x| at most.

    The error of Φ is absolute: 8u for erf or tanh, 2u for 1 + it, below 3u for the argument; times |x|/2, and two
    products are rounded. Where an error may reach over ReLU's kink its slope counts as 1.
    """
    v = x.value
    if kind == "relu":
        return x.through(np.maximum(v, 0), (v + x.error > 0).astype(float))
    if kind == "gelu":
        phi = (1 + erf(v / math.sqrt(2))) / 2
        return x.through(v * phi, phi + v * np.exp(-v * v / 2) / math.sqrt(2 * math.pi)).off_by(9 * x.unit * np.abs(v))
    inner, factor = v + 0.044715 * v**3, math.sqrt(2 / math.pi)
    tanh = np.tanh(factor * inner)
    slope = (1 + tanh) / 2 + v / 2 * (1 - tanh**2) * factor * (1 + 3 * 0.044715 * v * v)
    return x.through(v / 2 * (1 + tanh), slope).off_by(9 * x.unit * np.abs(v))


def feed_forward(x: Rounded, p: Weights, kind: str) -> Rounded:
    """Vaswani et al. (2017), equation 2."""
    return linear(activated(linear(x, part(p, "inner")), kind), part(p, "outer"))


def attention(query: Rounded, key: Rounded, value: Rounded, visible: Visible, bias: Floats | None = None) -> Rounded:
    """softmax(QKᵀ/√d + bias)·V over (B, h, n, d), (B, h, S, d), (B, h, S, dv); each query must see a key.

    What scores, weights and output lose to rounding is what ``attnspec.specs.bound`` grants them, 1 to 3.
    """
    d, keys, unit = query.value.shape[-1], key.value.shape[-2], query.unit
    turned, scale = key.map(lambda a: a.swapaxes(-1, -2)), 1 / math.sqrt(d)
    scores = product(query, turned).map(lambda a: scale * a)
    scores = scores if bias is None else scores + scores.like(bias)
    hidden = np.zeros(scores.value.shape, bool) if visible is None else ~np.broadcast_to(visible, scores.value.shape)
    logits = np.where(hidden, -np.inf, scores.value)
    below = np.where(hidden, 0.0, logits.max(-1, keepdims=True) - logits)
    size = scale * (np.abs(query.value) @ np.abs(turned.value))
    scores = scores.off_by((gamma(d + 2, unit) + ROUNDINGS * unit) * size + 2 * unit * below)
    weights = softmax(scores, logits).off_by((gamma(2 * keys + 16, unit) + 4 * unit) * _softmax(logits))
    output = product(weights, value)
    return output.off_by((gamma(2 * keys + 16, unit) + 5 * unit) * (weights.value @ np.abs(value.value)))


def softmax(scores: Rounded, logits: Floats) -> Rounded:
    """exp(l_j)/Σ exp(l_k), with derivative w_j·(ds_j − Σ w_k·ds_k)."""
    weights = _softmax(logits)
    mean = (weights * scores.terms).sum(-1, keepdims=True)
    return scores.carried(weights, weights * (scores.terms - mean))


def _softmax(logits: Floats) -> Floats:
    terms = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(terms / terms.sum(-1, keepdims=True))


def multi_head(
    x: Rounded,
    source: Rounded,
    p: Weights,
    heads: int,
    visible: Visible = None,
    kv_heads: int | None = None,
    turn: Callable[[Rounded], Rounded] = lambda each: each,
    bias: Floats | None = None,
) -> Rounded:
    """Concat(head_1, …, head_h)·W_Oᵀ, head i reading key/value head i // (h // kv_heads): section 3.2.2.

    ``turn`` is what positions do to queries and keys.
    """
    kv_heads = heads if kv_heads is None else kv_heads
    query = split(linear(x, part(p, "query")), heads)
    key, value = (split(linear(source, part(p, name)), kv_heads) for name in ("key", "value"))
    query, key = turn(query), turn(key)
    read = np.arange(heads) // (heads // kv_heads)
    key, value = (each.map(lambda a: a[..., read, :, :]) for each in (key, value))
    return linear(merge(attention(query, key, value, visible, bias)), part(p, "output"))


def split(x: Rounded, heads: int) -> Rounded:
    """(B, n, h·d) to (B, h, n, d)."""
    return x.map(lambda a: a.reshape(*a.shape[:-1], heads, a.shape[-1] // heads).swapaxes(-2, -3))


def merge(x: Rounded) -> Rounded:
    """(B, h, n, d) to (B, n, h·d)."""
    return x.map(lambda a: a.swapaxes(-2, -3).reshape(*a.shape[:-3], a.shape[-2], a.shape[-3] * a.shape[-1]))


def causal(n: int) -> NDArray[np.bool_]:
    """(n, n): True where the key is not after the query."""
    return np.tril(np.ones((n, n), bool))


def encoder_layer(x: Rounded, p: Weights, sizes: Any, visible: Visible = None) -> Rounded:
    """Self-attention and feed-forward, each with residual and LayerNorm: section 3.1."""
    x = residual(x, p, "attention", sizes, lambda y, q: multi_head(y, y, q, sizes.heads, visible))
    return residual(x, p, "feed_forward", sizes, lambda y, q: feed_forward(y, q, sizes.activation))


def decoder_layer(
    x: Rounded, memory: Rounded, p: Weights, sizes: Any, memory_visible: Visible = None, visible: Visible = None
) -> Rounded:
    """Causal self-attention, cross-attention to the memory, feed-forward: section 3.1."""
    seen = causal(x.value.shape[1]) & (True if visible is None else visible)
    x = residual(x, p, "attention", sizes, lambda y, q: multi_head(y, y, q, sizes.heads, seen))
    x = residual(x, p, "cross_attention", sizes, lambda y, q: multi_head(y, memory, q, sizes.heads, memory_visible))
    return residual(x, p, "feed_forward", sizes, lambda y, q: feed_forward(y, q, sizes.activation))


Layer = Callable[[Rounded, Weights], Rounded]


def residual(x: Rounded, p: Weights, name: str, sizes: Any, layer: Layer) -> Rounded:
    """norm(x + layer(x)), or x + layer(norm(x)) with norm_first."""
    own, norm = part(p, name), part(p, f"{name}_norm")
    if sizes.norm_first:
        return x + layer(layer_norm(x, norm, sizes.epsilon), own)
    return layer_norm(x + layer(x, own), norm, sizes.epsilon)


def stack(x: Rounded, p: Weights, count: int, layer: Layer, sizes: Any) -> Rounded:
    """``count`` applications of ``layer``, and the final LayerNorm of pre-norm."""
    for i in range(count):
        x = layer(x, part(p, f"layers.{i}"))
    return layer_norm(x, part(p, "norm"), sizes.epsilon) if sizes.norm_first else x
