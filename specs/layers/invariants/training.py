"""Before and in training: initial weights, dropout, gradients; weights that come and go unchanged."""

import io
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from attnspec.specs.catalogue import Violation, hold
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import layer_invariant, once, per_dtype
from attnspec.specs.layers.compare import differ, equal
from attnspec.specs.layers.definition import decoder_layer, encoder_layer
from attnspec.specs.layers.invariants.dropping import SIGMAS, scattered
from attnspec.specs.layers.library import Library, float64
from attnspec.specs.layers.rounded import exact
from attnspec.specs.layers.solution import make
from attnspec.specs.problem import Array

RULES: dict[str, Callable[[int, int], float]] = {
    "gaussian": lambda fan_in, fan_out: 0.02,
    "xavier": lambda fan_in, fan_out: math.sqrt(2 / (fan_in + fan_out)),
    "kaiming": lambda fan_in, fan_out: math.sqrt(2 / fan_in),
}
SIZES = (
    ("Linear", (200, 700), 200, 700),
    ("Convolution", (150, 5), 750, 750),
    ("Embedding", (700, 200), 200, 700),
    ("LearnedPositions", (700, 200), 200, 700),
)
"""Layers, what makes them, and the fans of their weight: (outputs, inputs, kernel), or a table (count, width)."""
KURTOSIS = {"normal": 3.0, "uniform": 1.8}
"""E[x⁴]/σ⁴: the variance of n numbers' x² is σ⁴·(kurtosis − 1)/n."""


@layer_invariant(
    "initial_variance",
    formula="σ² = 0.02² · 2/(fan_in + fan_out) · 2/fan_in, mean 0; n numbers: ± 6·√((κ − 1)/n)·σ²",
    source="Glorot & Bengio 2010, equation 12; He et al. 2015, equation 10",
    catches=("tkipf/pygcn#42", "denizyuret/Knet.jl#311"),
    suits=once,
)
def initial_variance(library: Library, case: Case) -> float:
    """Initial weights have mean 0 and the variance of their rule, biases are 0, scales are 1."""
    like, ratios = library.native(case.tokens()), []
    offered = [each for each in SIZES if hasattr(library.module, each[0])]
    for rule, sigma in RULES.items():
        for distribution in KURTOSIS:
            draw = library.make("Draw", like, rule, seed=1, distribution=distribution)
            for name, sizes, fan_in, fan_out in offered:
                what = f"{name} by {rule}, {distribution}"
                p = initial(library, library.make(name, *sizes), draw)
                ratios.append(hold_moments(what, p["weight"], sigma(fan_in, fan_out), KURTOSIS[distribution]))
                if "bias" in p:
                    equal(f"bias of {what}", p["bias"], np.zeros_like(p["bias"]))
    p = initial(library, library.make("LayerNorm", 9), library.make("Draw", like, "xavier"))
    equal("scale of LayerNorm", p["weight"], np.ones(9))
    return max(max(ratios), equal("shift of LayerNorm", p["bias"], np.zeros(9)))


def initial(library: Library, layer: Any, draw: Any) -> Any:
    """Parameters as the layer begins with them, in NumPy."""
    return library.back(library.method(layer, "init")(draw))


def hold_moments(what: str, weight: np.ndarray, sigma: float, kurtosis: float) -> float:
    """Mean 0 and variance σ², each within so many of its standard deviations."""
    spread = SIGMAS / math.sqrt(weight.size)
    mean = hold(f"mean of {what}", np.asarray(weight.mean()), np.zeros(()), spread * sigma)
    off = spread * math.sqrt(kurtosis - 1) * sigma**2
    return max(mean, hold(f"variance of {what}", np.asarray((weight**2).mean()), np.asarray(sigma**2), off))


@layer_invariant(
    "initial_layers",
    formula="init gives the names and shapes of shapes(), no two weights alike, by the seed",
    source="symmetric layers would stay so: Glorot & Bengio 2010",
    catches=("pytorch/pytorch#86274",),
    suits=once,
)
def initial_layers(library: Library, case: Case) -> float:
    """A stack's initial parameters are those it names; layers begin with different weights, and a seed fixes them."""
    layer = library.make("Encoder", make(library, "EncoderLayer", case), 2)
    p, again, other = (
        initial(library, layer, library.make("Draw", library.native(case.tokens()), "xavier", seed=seed))
        for seed in (0, 0, 1)
    )
    shapes = {name: tuple(shape) for name, shape in layer.shapes().items()}
    if {name: a.shape for name, a in p.items()} != shapes:
        raise Violation(f"parameters: wanted {shapes}, came { ({name: a.shape for name, a in p.items()}) }")
    weights = [name for name, a in p.items() if a.ndim == 2]
    seen = {p[name].tobytes(): name for name in weights}
    if len(seen) < len(weights):
        raise Violation(f"weights: wanted {len(weights)} that differ, came {len(seen)}")
    for name in weights:
        equal(f"{name} by the same seed", again[name], p[name])
        if np.array_equal(other[name], p[name]):
            raise Violation(f"{name} by another seed: wanted other numbers, came the same")
    return 0.0


@layer_invariant(
    "evaluation",
    formula="layer(p, x) = layer(p, x), and = the layer without dropout, bit by bit; layer(p, x, seed) ≠",
    source="Srivastava et al. 2014, section 4",
    catches=("karpathy/nanoGPT#240", "meta-pytorch/torchtune#1791", "wenet-e2e/wenet#2699"),
    suits=once,
)
def evaluation(library: Library, case: Case) -> float:
    """Without a seed nothing is dropped and the result is the same each time; a seed fixes what is dropped."""
    x, memory = case.tokens(), case.tokens("memory", case.source)
    kinds: dict[str, tuple[Array, ...]] = {"EncoderLayer": (), "DecoderLayer": (memory,)}
    for kind, more in kinds.items():
        plain, layer = make(library, kind, case), make(library, kind, case, dropout=0.5)
        p, given = case.parameters(layer.shapes()), exact(x, case.dtype)
        own = float64(p)
        wanted = decoder_layer(given, given.like(memory), own, case) if more else encoder_layer(given, own, case)
        once_more = library.call(layer, p, x, *more)
        equal(f"{kind}, evaluation, twice", library.call(layer, p, x, *more), once_more)
        equal(f"{kind}, evaluation, without dropout", library.call(plain, p, x, *more), once_more)
        seeded = [library.call(layer, p, x, *more, seed=seed) for seed in (1, 1, 2)]
        differ(f"{kind}, training", seeded[0], once_more, wanted)
        differ(f"{kind}, another seed", seeded[0], seeded[2], wanted)
        equal(f"{kind}, the same seed", seeded[1], seeded[0])
    return 0.0


@layer_invariant(
    "dropout",
    formula="0 with probability p, else x/(1 − p); kept: (1 − p)·n ± 6·√(p·(1 − p)·n)",
    source="Srivastava et al. 2014, section 10, scaled in training",
    suits=per_dtype,
)
def dropout(library: Library, case: Case) -> float:
    """Dropout drops each number by itself at its rate, and makes the rest larger by what that takes away."""
    x, rate = np.ones((40, 40, 4), case.dtype), 0.25
    came, number = library.call(library.has("dropout"), x, rate, 1), 6400
    scattered("dropout", came != 0)
    scaled = (x / np.asarray(1 - rate, case.dtype)).astype(case.dtype)
    equal("what is kept", came[came != 0], scaled[came != 0])
    kept = float((came != 0).sum())
    return hold("number kept", np.asarray(kept), np.asarray(0.75 * number), SIGMAS * math.sqrt(0.1875 * number))


@layer_invariant(
    "state",
    formula="import(export(p)) = p, bit by bit; a call leaves p as it is; each parameter counts, but the key's bias",
    source="softmax(s + c) = softmax(s): a bias of all keys adds the same to all scores of a query",
    catches=("Kyubyong/transformer#17",),
    suits=once,
)
def state(library: Library, case: Case) -> float:
    """Exported and imported parameters give the same output; a call changes none; each counts, but the key's bias."""
    layer, x = make(library, "EncoderLayer", case), case.tokens()
    p = case.parameters(layer.shapes())
    native = library.native(p)
    plain = library.back(library.run(layer, (native, library.native(x)), {}))
    for name, array in library.back(native).items():
        equal(f"{name} after a call", array, p[name])
    equal("output of imported parameters", library.call(layer, through_file(library.back(native)), x), plain)
    wanted, worst = encoder_layer(exact(x, case.dtype), float64(p), case), 0.0
    for name in p:
        other = {**p, name: p[name] + 0.25 * case.rng("other", name).standard_normal(p[name].shape)}
        came = library.call(layer, other, x)
        if name == "attention.key.bias":
            worst = hold("output with another bias of keys", came, plain, 3 * wanted.error)
        else:
            differ(f"output with another {name}", came, plain, wanted)
    return worst


def through_file(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Written to a file and read again."""
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    file.seek(0)
    with np.load(file) as read:
        return {name: read[name] for name in read.files}
