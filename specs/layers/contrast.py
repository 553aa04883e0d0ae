"""What a convolution and a recurrent layer compute, as ``definition`` says it of the others."""

import numpy as np

from attnspec.specs.layers.definition import Weights, linear, part
from attnspec.specs.layers.rounded import Rounded, aligned


def convolution(x: Rounded, p: Weights) -> Rounded:
    """y_i = Σ_j W_j·x_{i+j−r} + b, zeros beyond the ends."""
    weight, r = np.asarray(p["weight"]), p["weight"].shape[2] // 2
    around = x.map(lambda a: np.pad(a, [(0, 0)] * (a.ndim - 2) + [(r, r), (0, 0)]))
    shifted = [around.at(slice(j, j + x.value.shape[1])) for j in range(2 * r + 1)]
    columns = joined(shifted, -1)  # (B, n, (2r + 1)·E)
    return linear(columns, {"weight": np.concatenate(list(np.moveaxis(weight, 2, 0)), axis=1), "bias": p["bias"]})


def recurrent(x: Rounded, p: Weights) -> Rounded:
    """h_t = tanh(W·x_t + U·h_{t−1} + b), h_0 = 0; tanh is granted 8u."""
    inputs, states = linear(x, part(p, "input")), list[Rounded]()
    for t in range(x.value.shape[1]):
        y = inputs.at(slice(t, t + 1))
        y = y + linear(states[-1], part(p, "hidden")) if states else y
        value = np.tanh(y.value)
        states.append(y.through(value, 1 - value**2).off_by(8 * x.unit * np.abs(value)))
    return joined(states, -2)


def joined(parts: list[Rounded], axis: int) -> Rounded:
    """The parts one after the other along an axis, counted from the last."""
    last = parts[-1]
    terms = [aligned(each, last)[0] for each in parts]
    return last.carried(np.concatenate([each.value for each in parts], axis), np.concatenate(terms, axis))
