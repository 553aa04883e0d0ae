"""Numbers in float64 that know how far an implementation's may be off: rounding errors carried to first order.

Every operation of an implementation adds rounding errors of its own, bounded by its own operands. Here each of them is
a term with a sign that is not known; operations carry the terms on as their derivatives say, so that errors meet again
where values do and cancel where values cancel (affine arithmetic: Stolfi & de Figueiredo 1997; for rounding errors,
Goubault & Putot 2011). The bound of a number is the sum of the magnitudes of its terms: the worst case to first order.
What is left out is smaller by another factor of the errors. Bounds by magnitudes alone (Higham, *Accuracy and
Stability of Numerical Algorithms*, 2nd ed., section 3.3) grow a thousandfold with each layer and say nothing of stacks.

With unit roundoff u and γ_n = n·u/(1 − n·u), an operation adds at most

1. a ± b, a·b, a/b, √a: u times the magnitude of the result;
2. a sum of n products, in any order: γ_{n+2} times the sum of their magnitudes, two roundings being for a bias that is
   added and for a factor that is split off (Higham, eq. 3.5);
3. elementary functions: 4 units in the last place of the result, 8u; what each is granted stands where it is used.

Nothing is tuned. u has 2⁻⁵³ added for this computation itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attnspec.specs.bound import UNIT_ROUNDOFF, gamma
from attnspec.specs.oracle import Floats


@dataclass
class Terms:
    """The terms of one computation are numbered; ``unit`` is its unit roundoff."""

    unit: float
    count: int = 0


@dataclass(frozen=True, eq=False)
class Rounded:
    """Values (B, …) and their error terms (terms, B, …), those of each batch entry being its own."""

    value: Floats
    terms: Floats
    all: Terms

    @cached_property
    def error(self) -> Floats:
        """How far each value may be off."""
        return np.asarray(np.abs(self.terms).sum(0))

    @property
    def unit(self) -> float:
        """The unit roundoff."""
        return self.all.unit

    def __add__(self, other: "Rounded") -> "Rounded":
        mine, theirs = aligned(self, other)
        return self.carried(self.value + other.value, mine + theirs).rounded()

    def __sub__(self, other: "Rounded") -> "Rounded":
        mine, theirs = aligned(self, other)
        return self.carried(self.value - other.value, mine - theirs).rounded()

    def __mul__(self, other: "Rounded") -> "Rounded":
        mine, theirs = aligned(self, other)
        return self.carried(self.value * other.value, mine * other.value + self.value * theirs).rounded()

    def __truediv__(self, other: "Rounded") -> "Rounded":
        mine, theirs = aligned(self, other)
        value = self.value / other.value
        return self.carried(value, (mine - value * theirs) / other.value).rounded()

    def sqrt(self) -> "Rounded":
        """The square root."""
        root = np.sqrt(self.value)
        return self.carried(root, self.terms / (2 * root)).rounded()

    def mean(self) -> "Rounded":
        """Over the last axis, which is kept."""
        size = np.abs(self.value).mean(-1, keepdims=True)
        value, terms = (a.mean(-1, keepdims=True) for a in (self.value, self.terms))
        return self.carried(value, terms).off_by(gamma(self.value.shape[-1] + 2, self.unit) * size)

    def through(self, value: Floats, slope: Floats) -> "Rounded":
        """A function of each number, by its values and its derivative there."""
        return self.carried(value, slope * self.terms)

    def map(self, function: Callable[[Floats], Floats]) -> "Rounded":
        """What only moves numbers about, counting axes from the last."""
        return self.carried(function(self.value), function(self.terms))

    def at(self, tokens: Any) -> "Rounded":
        """Those of some tokens, on the last axis but one."""
        return self.map(lambda a: a[..., tokens, :])

    def of(self, sequence: int) -> "Rounded":
        """Those of one batch entry alone, without the axis of the batch."""
        return self.map(lambda a: a[..., sequence, :, :])

    def like(self, value: Floats | float) -> "Rounded":
        """Numbers that are exact, beside these."""
        value = np.asarray(value, np.float64)
        return self.carried(value, np.zeros((0, *value.shape)))

    def carried(self, value: Floats, terms: Floats) -> "Rounded":
        """Other values with terms of the same computation."""
        return Rounded(value, terms, self.all)

    def rounded(self) -> "Rounded":
        """Rounded once."""
        return self.off_by(self.unit * np.abs(self.value))

    def off_by(self, bound: Floats) -> "Rounded":
        """With a new term for each number, ``bound`` large."""
        bound = np.broadcast_to(bound, self.value.shape)
        if not bound.any():
            return self
        batch, number = bound.shape[0], bound[0].size
        new, index = np.zeros((number, batch, number)), np.arange(number)
        new[index, :, index] = bound.reshape(batch, number).T
        before = padded(self.terms, self.all.count)
        self.all.count += number
        return self.carried(self.value, np.concatenate([before, new.reshape(number, *bound.shape)]))


def padded(terms: Floats, count: int) -> Floats:
    """With zeros for the terms that these numbers have not."""
    missing = count - terms.shape[0]
    return terms if missing == 0 else np.concatenate([terms, np.zeros((missing, *terms.shape[1:]))])


def aligned(a: Rounded, b: Rounded) -> tuple[Floats, Floats]:
    """The terms of both: as many for each, and axes of size 1 where one has fewer axes."""
    assert a.all is b.all, "numbers of two computations, whose terms are not the same"
    count, axes = max(a.terms.shape[0], b.terms.shape[0]), max(a.terms.ndim, b.terms.ndim)
    mine, theirs = (t.reshape(t.shape[0], *(1,) * (axes - t.ndim), *t.shape[1:]) for t in (a.terms, b.terms))
    return padded(mine, count), padded(theirs, count)


def product(a: Rounded, b: Rounded) -> Rounded:
    """a @ b, its errors carried but none added."""
    mine, theirs = aligned(a, b)
    return a.carried(a.value @ b.value, mine @ b.value + a.value @ theirs)


def exact(values: Floats, dtype: str) -> Rounded:
    """Numbers (B, …) that are given in ``dtype``, and will be computed with in it: the beginning of a computation."""
    values = np.asarray(values, np.float64)
    unit = UNIT_ROUNDOFF[dtype] + UNIT_ROUNDOFF["float64"]
    return Rounded(values, np.zeros((0, *values.shape)), Terms(unit))


def unrounded(values: Floats) -> Rounded:
    """Numbers (B, …) of a computation whose errors are not asked for, which makes it many times faster."""
    values = np.asarray(values, np.float64)
    return Rounded(values, np.zeros((0, *values.shape)), Terms(0.0))
