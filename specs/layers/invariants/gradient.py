"""Gradients of whole layers, against central differences of their definitions; that of an embedding is a sum."""

from typing import Any

import numpy as np

from attnspec.specs.bound import gamma
from attnspec.specs.catalogue import hold
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import layer_invariant, per_dtype
from attnspec.specs.layers.compare import unit
from attnspec.specs.layers.definition import decoder_layer, encoder_layer
from attnspec.specs.layers.library import Library, Missing, float64
from attnspec.specs.layers.rounded import Rounded, exact, unrounded
from attnspec.specs.layers.solution import last_hidden, make
from attnspec.specs.problem import Array

STEP = 1e-3


@layer_invariant(
    "gradient",
    formula="⟨∇_a ⟨layer, c⟩, d⟩ = (f(a + h·d) − f(a − h·d))/2h ± |D(h) − D(2h)| ± 2·error/h, for each input a",
    source="Nocedal & Wright 2006, section 8.1; D(h) − D(2h) is three times what D(h) is off",
    suits=lambda case: case.norm_first,
)
def gradient(library: Library, case: Case) -> float:
    """The gradient with respect to the inputs, a decoder's memory too, and to each parameter is the definition's."""
    if "gradient" not in library.arrays.TRANSFORMS:
        raise Missing("its array library has no gradients")
    x, memory = case.tokens(), case.tokens("memory", case.source)
    encoder = of_layer(library, case, "EncoderLayer", {"x": x}, "mask", last_hidden(case, case.length))
    mask = last_hidden(case, case.source)
    return max(encoder, of_layer(library, case, "DecoderLayer", {"x": x, "memory": memory}, "memory_mask", mask))


def of_layer(library: Library, case: Case, kind: str, given: dict[str, Array], masked: str, mask: Array) -> float:
    """The largest error ÷ bound of the slopes along a direction for each of the inputs ``given`` and the parameters."""
    layer = make(library, kind, case)
    p = case.parameters(layer.shapes())
    cotangent, inputs = case.rng("cotangent").standard_normal(given["x"].shape), {**given, **p}
    native_mask = {masked: library.native(mask)}

    def function(*arrays: Any) -> Any:
        return layer(dict(zip(p, arrays[len(given) :], strict=True)), *arrays[: len(given)], **native_mask)

    def defined(x: Rounded, values: dict[str, Array]) -> Rounded:
        own = float64({name: values[name] for name in p})
        if kind == "EncoderLayer":
            return encoder_layer(x, own, case, mask)
        return decoder_layer(x, x.like(values["memory"]), own, case, mask)

    _, came = library.arrays.gradient(function, list(map(library.native, inputs.values())), library.native(cotangent))

    def along(name: str, direction: np.ndarray, step: float) -> float:
        values = {**inputs, name: inputs[name] + step * direction}
        return float((defined(unrounded(values["x"]), values).value * cotangent).sum())

    off = defined(exact(given["x"], case.dtype), inputs).error
    rounding = 2 * float((off * np.abs(cotangent)).sum()) / STEP
    ratios = []
    for name, native in zip(inputs, came, strict=True):
        direction = case.rng("direction", name).standard_normal(inputs[name].shape)
        near, far = ((along(name, direction, h) - along(name, direction, -h)) / (2 * h) for h in (STEP, 2 * STEP))
        slope = np.asarray((library.back(native) * direction).sum())
        ratios.append(hold(f"gradient of {name} of {kind}", slope, np.asarray(near), abs(near - far) + rounding))
    return max(ratios)


@layer_invariant(
    "embedding_gradient",
    formula="∂⟨embedding(ids), c⟩/∂W[t] = Σ c[b, i] over ids[b, i] = t ± γ_n·Σ|c[b, i]|",
    source="a row that is read several times is counted several times; Higham 2002, equation 3.4, for the sum",
    suits=per_dtype,
)
def embedding_gradient(library: Library, case: Case) -> float:
    """An embedding's gradient gathers, for each row, what comes from all the tokens that it was read for."""
    if "gradient" not in library.arrays.TRANSFORMS:
        raise Missing("its array library has no gradients")
    layer, ids = library.make("Embedding", 5, case.width), case.ids("gradient", 5, case.length)
    ids[:, 1] = ids[:, 0]
    (weight,), cotangent = case.parameters(layer.shapes()).values(), case.tokens("cotangent")
    native, given = library.native(ids), [library.native(weight), library.native(cotangent)]
    _, (came,) = library.arrays.gradient(lambda w: layer({"weight": w}, native), given[:1], given[1])
    read = np.arange(5)[:, None] == ids.ravel()  # (count, B·n)
    wanted, size = (read @ c.reshape(-1, case.width).astype(np.float64) for c in (cotangent, np.abs(cotangent)))
    return hold("gradient of the embedding", library.back(came), wanted, gamma(ids.size, unit(case)) * size)
