"""The model that learns, with its positions and without."""

from collections.abc import Mapping
from dataclasses import dataclass

from attnspec.impls.layers import Transformer
from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.parameters import Array
from attnspec.learning.task import IDS


class Nothing(Layer):
    """x as it is."""

    def __call__(self, parameters: Mapping[str, Array], x: Array, *, offset: int = 0) -> Array:
        """x."""
        return x


@dataclass(frozen=True)
class Unordered(Transformer):
    """The Transformer without positional encoding.

    Its encoder takes permuted tokens to permuted states, and a decoder reads states as a set: whatever the order of the
    source, the logits are the same, and so is the translation. Of sources that are the same digits in another order at
    most one is translated right.
    """

    def parts(self) -> dict[str, Layer]:
        """Those of the Transformer, save positions."""
        return {**super().parts(), "positions": Nothing()}


def model(positions: bool = True) -> Transformer:
    """A small one: 64 wide, four heads, one layer on each side."""
    kind = Transformer if positions else Unordered
    return kind(IDS, IDS, width=64, heads=4, hidden=128, count=1, norm_first=True)
