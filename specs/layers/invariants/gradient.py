"""Gradients of a whole encoder layer, against central differences of its definition."""

from typing import Any

import numpy as np

from attnspec.specs.catalogue import hold
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import layer_invariant
from attnspec.specs.layers.definition import encoder_layer
from attnspec.specs.layers.library import Library, Missing, float64
from attnspec.specs.layers.rounded import exact
from attnspec.specs.layers.solution import last_hidden, make

STEP = 1e-3


@layer_invariant(
    "gradient",
    formula="⟨∇_a ⟨layer, c⟩, d⟩ = (f(a + h·d) − f(a − h·d))/2h ± |D(h) − D(2h)| ± 2·error/h, for each input a",
    source="Nocedal & Wright 2006, section 8.1; D(h) − D(2h) is three times what D(h) is off",
    suits=lambda case: case.norm_first,
)
def gradient(library: Library, case: Case) -> float:
    """The gradient with respect to the input and to each parameter is that of the definition."""
    if "gradient" not in library.arrays.TRANSFORMS:
        raise Missing("its array library has no gradients")
    layer, x, mask = make(library, "EncoderLayer", case), case.tokens(), last_hidden(case, case.length)
    p = case.parameters(layer.shapes())
    names, cotangent = ("x", *p), case.rng("cotangent").standard_normal(x.shape)
    inputs = {"x": x, **p}
    native_mask = library.native(mask)

    def function(x: Any, *arrays: Any) -> Any:
        return layer(dict(zip(p, arrays, strict=True)), x, mask=native_mask)

    given = [library.native(inputs[name]) for name in names]
    _, came = library.arrays.gradient(function, given, library.native(cotangent))

    def along(name: str, direction: np.ndarray, step: float) -> float:
        moved = {**inputs, name: inputs[name] + step * direction}
        x = moved.pop("x")
        return float((encoder_layer(exact(x, case.dtype), float64(moved), case, mask).value * cotangent).sum())

    off = encoder_layer(exact(x, case.dtype), float64(p), case, mask).error
    rounding = 2 * float((off * np.abs(cotangent)).sum()) / STEP
    ratios = []
    for name, native in zip(names, came, strict=True):
        direction = case.rng("direction", name).standard_normal(inputs[name].shape)
        near, far = ((along(name, direction, h) - along(name, direction, -h)) / (2 * h) for h in (STEP, 2 * STEP))
        slope = np.asarray((library.back(native) * direction).sum())
        ratios.append(hold(f"gradient of {name}", slope, np.asarray(near), abs(near - far) + rounding))
    return max(ratios)
