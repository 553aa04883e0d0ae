"""Arrays that record how information flows: what a result depends on, in how many steps, at the cost of how much.

A ``Flow`` is a NumPy array under the array API standard with, for each number, its depth: the longest chain of
operations from a source to it, −∞ where there is none. A product of matrices counts as one step, for its sums can all
be made at once, and as 2·m·n·k operations; any other operation as one step, and one operation a number. Moving numbers
about is free. So whatever layer is written over the standard can be measured, and nothing of it need be known.
"""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Depths = NDArray[np.float64]

MOVES = {"reshape", "permute_dims", "concat", "stack", "matrix_transpose", "repeat", "take", "broadcast_to", "flip"}
MOVES |= {"squeeze", "expand_dims", "roll", "moveaxis", "tile", "asarray", "astype"}
REDUCTIONS = {"sum", "mean", "max", "min", "var", "std", "prod", "any", "all"}


@dataclass
class Cost:
    """The number of operations so far."""

    operations: int = 0


@dataclass(frozen=True, eq=False)
class Flow:
    """Values and their depths, which have one shape."""

    value: NDArray[Any]
    depth: Depths
    cost: Cost

    def __array_namespace__(self, api_version: str | None = None) -> "Space":
        return Space(self.cost)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def T(self) -> "Flow":
        return Flow(self.value.T, self.depth.T, self.cost)

    @property
    def mT(self) -> "Flow":
        return Flow(self.value.mT, self.depth.mT, self.cost)

    def __getitem__(self, index: Any) -> "Flow":
        return Flow(self.value[index], self.depth[index], self.cost)

    def __matmul__(self, other: "Flow") -> "Flow":
        value, terms = self.value @ other.value, self.shape[-1]
        rows, columns = self.depth.max(-1, keepdims=True), other.depth.max(-2, keepdims=True)
        self.cost.operations += 2 * value.size * terms
        return Flow(value, np.broadcast_to(np.maximum(rows, columns) + 1, value.shape), self.cost)

    def __neg__(self) -> "Flow":
        return elementwise(operator.neg, self.cost, self)

    def __invert__(self) -> "Flow":
        return elementwise(operator.invert, self.cost, self)


def _binary(function: Callable[[Any, Any], Any], turned: bool = False) -> Callable[[Flow, Any], Flow]:
    def method(self: Flow, other: Any) -> Flow:
        return elementwise(function, self.cost, *((other, self) if turned else (self, other)))

    return method


for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(Flow, f"__{_name}__", _binary(getattr(operator, _name)))
    setattr(Flow, f"__r{_name}__", _binary(getattr(operator, _name), turned=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne", "and_", "or_"):
    setattr(Flow, f"__{_name.strip('_')}__", _binary(getattr(operator, _name)))


def elementwise(function: Callable[..., Any], cost: Cost, *operands: Any) -> Flow:
    """One step for each number of the result."""
    value = np.asarray(function(*(o.value if isinstance(o, Flow) else o for o in operands)))
    cost.operations += value.size
    depths = [o.depth for o in operands if isinstance(o, Flow)]
    depth = depths[0]
    for other in depths[1:]:
        depth = np.maximum(depth, other)
    return Flow(value, np.broadcast_to(depth + 1, value.shape), cost)


@dataclass(frozen=True)
class Space:
    """The functions of the array API standard, by NumPy's, for such arrays."""

    cost: Cost
    __name__ = "flow"

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if not callable(found) or isinstance(found, type) or name in ("isdtype", "result_type", "finfo", "iinfo"):
            return found
        if name in ("matmul", "linalg"):
            return operator.matmul

        def function(*arguments: Any, **options: Any) -> Any:
            return self._call(name, found, arguments, options)

        return function

    def _call(self, name: str, function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        values = [_each(lambda flow: flow.value, argument) for argument in arguments]
        if not any(isinstance(part, Flow) for argument in arguments for part in _parts(argument)):
            value = np.asarray(function(*values, **options))
            return Flow(value, np.full(value.shape, -math.inf), self.cost)
        if name in MOVES:
            depths = [_each(lambda flow: flow.depth, argument) for argument in arguments]
            moved = function(*depths, **{key: o for key, o in options.items() if key != "dtype"})
            return Flow(np.asarray(function(*values, **options)), np.asarray(moved), self.cost)
        if name in REDUCTIONS:
            shape = {key: o for key, o in options.items() if key in ("axis", "keepdims")}
            self.cost.operations += arguments[0].value.size
            depth = np.asarray(arguments[0].depth.max(**shape)) + 1
            return Flow(np.asarray(function(*values, **options)), depth, self.cost)
        if name.endswith("_like"):
            value = np.asarray(function(*values, **options))
            return Flow(value, np.full(value.shape, -math.inf), self.cost)
        return elementwise(function, self.cost, *arguments)


def _parts(argument: Any) -> tuple[Any, ...]:
    return tuple(argument) if isinstance(argument, list | tuple) else (argument,)


def _each(part: Callable[[Flow], Any], argument: Any) -> Any:
    if isinstance(argument, list | tuple):
        return [part(item) if isinstance(item, Flow) else item for item in argument]
    return part(argument) if isinstance(argument, Flow) else argument


def sources(values: NDArray[Any], tokens: Any, cost: Cost) -> Flow:
    """Inputs (B, n, E), of which the ``tokens`` are the sources."""
    depth = np.full(values.shape, -math.inf)
    depth[:, tokens] = 0
    return Flow(values, depth, cost)


def constant(values: NDArray[Any], cost: Cost) -> Flow:
    """Parameters: they depend on no token."""
    return Flow(values, np.full(values.shape, -math.inf), cost)
