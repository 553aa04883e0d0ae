"""Layers of single tokens: linear, LayerNorm, feed-forward, embedding."""

import numpy as np

from attnspec.specs.catalogue import Violation, hold
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import layer_invariant, once, per_dtype
from attnspec.specs.layers.compare import SMALLEST, equal, near
from attnspec.specs.layers.definition import feed_forward, layer_norm, linear
from attnspec.specs.layers.library import Library, Missing, float64
from attnspec.specs.layers.rounded import exact

NORM = "Ba, Kiros & Hinton 2016, Layer Normalization, equations 3 and 4"


@layer_invariant("linear", formula="y = x·Wᵀ + b, W (outputs, inputs)", source="torch.nn.Linear", suits=per_dtype)
def linear_map(library: Library, case: Case) -> float:
    """A linear layer multiplies with the transposed weight and adds the bias, if it has one."""
    x, ratios = case.tokens(), []
    for bias in (True, False):
        layer = library.make("Linear", case.width, case.hidden, bias)
        p = case.parameters(layer.shapes())
        if ("bias" in p) != bias:
            raise Violation(f"Linear(…, bias={bias}): came the parameters {', '.join(p)}")
        ratios.append(near("linear", case, library.call(layer, p, x), linear(exact(x, case.dtype), float64(p))))
    return max(ratios)


@layer_invariant(
    "norm_definition",
    formula="(x − μ)/√(σ² + ε)·w + b, σ² = Σ(x − μ)²/E",
    source=NORM,
    catches=(
        "harvardnlp/annotated-transformer#119",
        "hyunwoongko/transformer#7",
        "hkproj/pytorch-transformer#31",
        "131250208/TPlinker-joint-extraction#37",
        "spcl/substation#2",
    ),
    suits=per_dtype,
)
def norm_definition(library: Library, case: Case) -> float:
    """LayerNorm is its formula, of features as small as ε, as large as a thousand or far off; each token by itself."""
    ratios = []
    for size, mean in ((1e-2, 0.0), (1.0, 0.0), (1e3, 0.0), (1.0, 1e4)):  # E[x²] − μ² would lose all digits of the last
        layer = library.make("LayerNorm", case.width, 1e-4)
        x = (size * case.tokens("norm") + mean).astype(case.dtype)
        p = case.parameters(layer.shapes())
        came = library.call(layer, p, x)
        ratios.append(near("LayerNorm", case, came, layer_norm(exact(x, case.dtype), float64(p), 1e-4)))
    return max(ratios)


@layer_invariant(
    "norm_moments",
    formula="w = 1, b = 0: mean 0, variance σ²/(σ² + ε)",
    source=NORM,
    catches=("allenai/allennlp#953",),
    suits=per_dtype,
)
def norm_moments(library: Library, case: Case) -> float:
    """Before scale and shift, LayerNorm gives each token the mean 0 and the variance 1, but for ε."""
    layer, x = library.make("LayerNorm", case.width, 1e-5), case.tokens("moments") * 3 + 1
    x = x.astype(case.dtype)
    p = {name: np.full(case.width, float(name == "weight"), case.dtype) for name in layer.shapes()}
    came = np.asarray(library.call(layer, p, x), np.float64)
    bound = layer_norm(exact(x, case.dtype), float64(p), 1e-5).error + SMALLEST[case.dtype]
    variance = np.asarray(x, np.float64).var(-1)
    mean = hold("mean", came.mean(-1), np.zeros(x.shape[:2]), bound.mean(-1) + 1e-15)
    off = (2 * np.abs(came) * bound + bound**2).mean(-1) + bound.mean(-1) ** 2 + 1e-15
    return max(mean, hold("variance", came.var(-1), variance / (variance + 1e-5), off))


@layer_invariant(
    "norm_affine",
    formula="norm(a·x + c) = norm(x) for ε = 0; norm(x; w, b) = norm(x; 1, 0)·w + b",
    source=NORM + "; section 5.1, invariance",
    suits=per_dtype,
)
def norm_affine(library: Library, case: Case) -> float:
    """LayerNorm does not see the scale and shift of its input, and applies its own to each feature."""
    layer, x = library.make("LayerNorm", case.width, 0.0), case.tokens("affine")
    p = case.parameters(layer.shapes())
    plain = {"weight": np.ones_like(p["weight"]), "bias": np.zeros_like(p["bias"])}
    moved = (4 * x + 1).astype(case.dtype)
    wanted = layer_norm(exact(x, case.dtype), float64(plain), 0.0)
    ratio = near(
        "norm(x)·w + b", case, library.call(layer, p, x), wanted * wanted.like(p["weight"]) + wanted.like(p["bias"])
    )
    given = exact(4 * np.asarray(x, np.float64) + 1, case.dtype)
    wanted = layer_norm(given.off_by(2 * given.unit * np.abs(moved)), float64(plain), 0.0)
    return max(ratio, near("norm(4x + 1)", case, library.call(layer, plain, moved), wanted))


@layer_invariant(
    "feed_forward",
    formula="activation(x·W₁ᵀ + b₁)·W₂ᵀ + b₂",
    source="Vaswani et al. 2017, equation 2; Hendrycks & Gimpel 2016, GELU, section 2",
    suits=per_dtype,
)
def feed_forward_layer(library: Library, case: Case) -> float:
    """The feed-forward layer is linear, activation, linear, with ReLU, GELU and GELU's approximation by tanh."""
    x, ratios = case.tokens(), []
    for kind in ("relu", "gelu", "gelu_tanh"):
        layer = library.make("FeedForward", case.width, case.hidden, kind)
        p = case.parameters(layer.shapes())
        wanted = feed_forward(exact(x, case.dtype), float64(p), kind)
        ratios.append(near(kind, case, library.call(layer, p, x), wanted))
    return max(ratios)


@layer_invariant(
    "embedding", formula="embedding(ids)[b, i] = W[ids[b, i]]", source="Mikolov et al. 2013, section 2", suits=per_dtype
)
def embedding(library: Library, case: Case) -> float:
    """An embedding gives the row of each token id, unchanged; the first and the last id count."""
    layer = library.make("Embedding", 11, case.width)
    p, ids = case.parameters(layer.shapes()), case.ids("embedding", 11, case.length)
    ids[0, 0], ids[-1, -1] = 0, 10
    return equal("embedding", library.call(layer, p, ids), p["weight"][ids])


@layer_invariant(
    "dimensions",
    formula="layer: (1, 1, E) → (1, 1, E)",
    source="Vaswani et al. 2017, section 3.1: residuals need it",
    suits=once,
)
def dimensions(library: Library, case: Case) -> float:
    """Every layer keeps batch, length and width, and the dtype, of a single token too; so all others compare shapes."""
    x, memory = case.tokens()[:1, :1], case.tokens("memory", case.source)[:1]
    offered = {name: sizes for name, sizes in KEEPING.items() if hasattr(library.module, name)}
    if not offered:
        raise Missing("it has no layer that keeps its input's shape")
    for name, sizes in offered.items():
        layer = library.make(name, *(getattr(case, size) for size in sizes))
        more = (memory,) if name == "DecoderLayer" else ()
        came = library.call(layer, case.parameters(layer.shapes()), x, *more)
        if came.shape != x.shape or came.dtype != x.dtype:
            raise Violation(f"{name}: wanted {x.dtype} {x.shape}, came {came.dtype} {came.shape}")
    return 0.0


KEEPING = {
    "LayerNorm": ("width",),
    "FeedForward": ("width", "hidden"),
    "SelfAttention": ("width",),
    "MultiHead": ("width", "heads"),
    "PerHead": ("width", "heads"),
    "EncoderLayer": ("width", "heads", "hidden"),
    "DecoderLayer": ("width", "heads", "hidden"),
    "Convolution": ("width",),
    "Recurrent": ("width",),
}
"""The layers that keep their input's shape, and the sizes that make them."""
