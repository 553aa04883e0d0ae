"""Weights before training: random numbers whose variance keeps that of what passes through.

A weight has the shape (outputs, inputs, …), what follows being a kernel: fan_in is inputs × kernel, the number of terms
in each output; fan_out is outputs × kernel. The numbers come from NumPy, so that a seed means the same everywhere.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from array_api_compat import array_namespace, device

from attnspec.impls.layers.checks import described, is_kind, want, whole
from attnspec.impls.layers.parameters import Array, Shape

Rule = Callable[[Shape], float]
"""The standard deviation of a weight of that shape."""


def gaussian(shape: Shape, std: float = 0.02) -> float:
    """σ whatever the shape; 0.02 is BERT's: Devlin et al. (2019), and the code of its authors."""
    return std


def xavier(shape: Shape) -> float:
    """√(2/(fan_in + fan_out)): Glorot & Bengio (2010), equation 12; keeps activations and gradients alike."""
    fan_in, fan_out = fans(shape)
    return math.sqrt(2 / (fan_in + fan_out))


def kaiming(shape: Shape) -> float:
    """√(2/fan_in): He et al. (2015), equation 10; the 2 makes up for what ReLU cuts off."""
    return math.sqrt(2 / fans(shape)[0])


def fans(shape: Shape) -> tuple[int, int]:
    """(fan_in, fan_out) of a weight (outputs, inputs, …). ValueError for fewer than two axes."""
    if len(shape) < 2:
        raise ValueError(f"fans: wanted a weight (outputs, inputs, …), came shape {shape}")
    kernel = math.prod(shape[2:])
    return shape[1] * kernel, shape[0] * kernel


RULES: dict[str, Rule] = {"gaussian": gaussian, "xavier": xavier, "kaiming": kaiming}


@dataclass(frozen=True)
class Draw:
    """Draws parameters for ``layer.init``: arrays of the library, dtype and device of ``like``.

    ``rule`` gives the standard deviation σ, by name or as a function of the shape; "uniform" draws from (−√3·σ, √3·σ),
    which has the same variance. ``seed`` fixes the numbers. ValueError for what is none of these.
    """

    like: Array
    rule: str | Rule = "xavier"
    seed: int = 0
    distribution: Literal["normal", "uniform"] = "normal"
    _generator: np.random.Generator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        want(is_kind(self.like, "real floating"), "Draw", "an array of floating numbers", described(self.like))
        want(callable(self.rule) or self.rule in RULES, "Draw", f"a rule of {', '.join(RULES)}", repr(self.rule))
        want(whole(self.seed), "Draw", "a seed of 0 or more", repr(self.seed))
        normal = self.distribution in ("normal", "uniform")
        want(normal, "Draw", "distribution 'normal' or 'uniform'", repr(self.distribution))
        object.__setattr__(self, "_generator", np.random.default_rng(self.seed))

    def __call__(self, shape: Shape) -> Array:
        """A weight of that shape."""
        std = (RULES[self.rule] if isinstance(self.rule, str) else self.rule)(shape)
        limit = math.sqrt(3) * std
        if self.distribution == "normal":
            return self._native(self._generator.normal(0, std, shape))
        return self._native(self._generator.uniform(-limit, limit, shape))

    def constant(self, shape: Shape, value: float) -> Array:
        """``value`` everywhere: 0 for biases, 1 for the scales of a LayerNorm."""
        return self._native(np.full(shape, value))

    def _native(self, values: Array) -> Array:
        xp = array_namespace(self.like)
        return xp.asarray(values, dtype=self.like.dtype, device=device(self.like))
