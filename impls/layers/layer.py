"""What every layer has in common: a configuration, and named parameters that are given to each call.

A layer is a frozen dataclass. ``layer.shapes()`` names its parameters, ``layer.init(draw)`` makes them, and
``layer(parameters, x, …)`` applies it: a pure function of its arguments, in whichever array library they are. A layer
that is made of others says of which, and the names of theirs come after its own: "feed_forward.inner.weight".
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, ClassVar, Protocol

from attnspec.impls.layers.checks import described, is_kind, want, want_fields
from attnspec.impls.layers.parameters import Array, Shape, check, within


class Draw(Protocol):
    """What makes parameters, such as ``initialise.Draw``: weights by a call, all others by ``constant``."""

    def __call__(self, shape: Shape) -> Array: ...
    def constant(self, shape: Shape, value: float) -> Array: ...


class Layer(ABC):
    """The base of all layers: what follows from the parts. Whatever does not fit is told when a layer is made."""

    LEAST: ClassVar[Mapping[str, int]] = {}
    """The smallest value of an integer field, where that is not 1."""

    def __post_init__(self) -> None:
        want_fields(self, self.LEAST)
        self.check()
        self.made  # noqa: B018  # parts check themselves

    def check(self) -> None:  # noqa: B027  # most layers have nothing to add
        """ValueError for fields that do not go together."""

    @cached_property
    def made(self) -> dict[str, "Layer"]:
        """``parts``, made once."""
        return self.parts()

    def parts(self) -> dict[str, "Layer"]:
        """The layers that this one is made of, by name; none unless it says otherwise."""
        return {}

    def shapes(self) -> dict[str, Shape]:
        """The shape of each parameter, by its dotted name."""
        return {f"{name}.{inner}": shape for name, part in self.made.items() for inner, shape in part.shapes().items()}

    def init(self, draw: Draw) -> dict[str, Array]:
        """Parameters before training, by dotted name, as ``draw`` makes them."""
        return {
            f"{name}.{inner}": array for name, part in self.made.items() for inner, array in part.init(draw).items()
        }

    @abstractmethod
    def __call__(self, parameters: Mapping[str, Array], *inputs: Array, **options: Any) -> Any:
        """Apply the layer. Each layer has its own arguments."""

    def bind(self, parameters: Mapping[str, Array], *inputs: Array) -> dict[str, Callable[..., Any]]:
        """The parts with their parameters. ValueError unless all parameters are there and go with the inputs."""
        check(type(self).__name__, parameters, self.shapes(), inputs)
        return {name: partial(part, within(parameters, name)) for name, part in self.made.items()}

    def want(self, good: bool, wanted: str, came: object) -> None:
        """ValueError that says what was wanted, what came, and in which layer."""
        want(good, type(self).__name__, wanted, came)

    def want_width(self, x: Array, width: int, name: str = "x") -> None:
        """ValueError unless ``x`` is (B, n, width), of floating numbers."""
        good = is_kind(x, "real floating") and x.ndim == 3 and x.shape[-1] == width
        self.want(good, f"{name} (B, n, {width}) of floating numbers", described(x))
