"""Tokens and positions as vectors."""

from collections.abc import Mapping
from dataclasses import dataclass

from array_api_compat import array_namespace

from attnspec.impls.layers.checks import described, holds, is_kind, whole
from attnspec.impls.layers.layer import Draw, Layer
from attnspec.impls.layers.parameters import Array, Shape
from attnspec.impls.layers.positions import positional_encoding


@dataclass(frozen=True)
class Embedding(Layer):
    """Token ids (B, n) to (B, n, width): row ``id`` of weight (count, width)."""

    count: int
    width: int

    def shapes(self) -> dict[str, Shape]:
        """weight, a row for each token."""
        return {"weight": (self.count, self.width)}

    def init(self, draw: Draw) -> dict[str, Array]:
        """Random rows."""
        return {"weight": draw((self.count, self.width))}

    def __call__(self, parameters: Mapping[str, Array], ids: Array) -> Array:
        """Look the ids up. ValueError for ids that are no integers from 0 to below count."""
        self.bind(parameters, ids)
        self.want(is_kind(ids, "integral"), "integers as token ids", described(ids))
        xp, ids = array_namespace(ids), indices(ids)
        self._known(ids)
        rows = xp.take(parameters["weight"], xp.reshape(ids, (-1,)), axis=0)
        return xp.reshape(rows, (*ids.shape, self.width))

    def _known(self, ids: Array) -> None:
        """ValueError for unknown ids; inside of jax.jit the numbers are not there to look at."""
        if not holds((ids >= 0) & (ids < self.count)):
            xp = array_namespace(ids)
            came = f"ids from {int(xp.min(ids))} to {int(xp.max(ids))}"
            self.want(False, f"token ids from 0 to {self.count - 1}", came)


def indices(ids: Array) -> Array:
    """The integers in a dtype that every library takes rows by: PyTorch takes none by bytes."""
    xp = array_namespace(ids)
    return ids if ids.dtype in (xp.int32, xp.int64) else xp.astype(ids, xp.arange(0).dtype)


@dataclass(frozen=True)
class LearnedPositions(Layer):
    """x (B, n, width) plus row p of weight (length, width) at position p: Gehring et al. (2017), section 3.1."""

    length: int
    width: int

    def shapes(self) -> dict[str, Shape]:
        """weight, a row for each position."""
        return {"weight": (self.length, self.width)}

    def init(self, draw: Draw) -> dict[str, Array]:
        """Random rows."""
        return {"weight": draw((self.length, self.width))}

    def __call__(self, parameters: Mapping[str, Array], x: Array, *, offset: int = 0) -> Array:
        """Add the rows from ``offset`` on. ValueError for a negative one, and a sequence longer than the table."""
        self.bind(parameters, x)
        self.want_width(x, self.width)
        self.want(whole(offset), "an offset of 0 or more", repr(offset))
        end = offset + x.shape[1]
        self.want(end <= self.length, f"at most {self.length} positions, as the table has", end)
        return x + parameters["weight"][offset:end, :]


@dataclass(frozen=True)
class SinusoidalPositions(Layer):
    """x (B, n, width) plus sines and cosines of the positions, nothing learned: Vaswani et al. (2017), section 3.5."""

    width: int

    def __call__(self, parameters: Mapping[str, Array], x: Array, *, offset: int = 0) -> Array:
        """Add them, from position ``offset`` on."""
        self.bind(parameters, x)
        self.want_width(x, self.width)
        return positional_encoding(x, offset=offset)
