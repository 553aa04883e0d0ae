"""Self-attention beside convolution and recurrence: the textbook comparison, measured on the layers themselves.

Vaswani et al. 2017, section 4 and table 1.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from attnspec.specs.catalogue import Violation
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import layer_invariant, once
from attnspec.specs.layers.compare import differ, near, same
from attnspec.specs.layers.contrast import convolution, recurrent
from attnspec.specs.layers.definition import multi_head
from attnspec.specs.layers.flow import Cost, Flow, constant, sources
from attnspec.specs.layers.library import Library, Missing, float64
from attnspec.specs.layers.rounded import Rounded, exact

TABLE = "Vaswani et al. 2017, section 4, table 1"


def three(library: Library, case: Case) -> Iterator[tuple[str, Any]]:
    """Self-attention, convolution with a kernel of 3, recurrence; all of one width."""
    yield "MultiHead", library.make("MultiHead", case.width, case.heads)
    yield "Convolution", library.make("Convolution", case.width, 3)
    yield "Recurrent", library.make("Recurrent", case.width)


def defined(name: str, x: Rounded, p: Any, case: Case) -> Rounded:
    """What each of the three is by definition."""
    if name == "MultiHead":
        return multi_head(x, x, p, case.heads)
    return convolution(x, p) if name == "Convolution" else recurrent(x, p)


@layer_invariant(
    "convolution_recurrence",
    formula="y_i = Σ_j W_j·x_{i+j−r} + b; h_t = tanh(W·x_t + U·h_{t−1} + b)",
    source="LeCun et al. 1989; Elman 1990",
)
def convolution_recurrence(library: Library, case: Case) -> float:
    """The convolution, with kernels of 1, 3 and 5, and the recurrent layer are what their equations say."""
    x, ratios = case.tokens(), []
    layers = [("Convolution", library.make("Convolution", case.width, kernel)) for kernel in (1, 3, 5)]
    for name, layer in (*layers, ("Recurrent", library.make("Recurrent", case.width))):
        p = case.parameters(layer.shapes())
        wanted = defined(name, exact(x, case.dtype), float64(p), case)
        ratios.append(near(name, case, library.call(layer, p, x), wanted))
    return max(ratios)


@layer_invariant(
    "receptive_field",
    formula="output i of one layer depends on token j: attention always; convolution |i − j| ≤ r; recurrence j ≤ i",
    source=TABLE,
    suits=once,
)
def receptive_field(library: Library, case: Case) -> float:
    """One layer of attention sees all tokens, a convolution its neighbours, recurrence the past; nothing else."""
    x, i, ratios = case.tokens(), np.arange(case.length), []
    fields: dict[str, Callable[[int], Any]] = {
        "MultiHead": lambda j: i >= 0,
        "Convolution": lambda j: np.abs(i - j) <= 1,
        "Recurrent": lambda j: i >= j,
    }
    for name, layer in three(library, case):
        p = case.parameters(layer.shapes())
        wanted, plain = defined(name, exact(x, case.dtype), float64(p), case), library.call(layer, p, x)
        for j in range(case.length):
            other = x.copy()
            other[:, j] = -x[:, j]
            came, seen = library.call(layer, p, other), fields[name](j)
            for k in i[seen]:
                at = wanted.at(k)
                differ(f"output {k} of {name} with another token {j}", came[:, k], plain[:, k], at)
            rest = wanted.at(~seen)
            ratios.append(same(f"{name} beyond token {j}", case, came[:, ~seen], plain[:, ~seen], rest))
    return max(ratios)


@layer_invariant(
    "translation",
    formula="conv(shift(x)) = shift(conv(x)) inside; conv(P·x) ≠ P·conv(x); attention(P·x) = P·attention(x)",
    source="Goodfellow et al. 2016, Deep Learning, section 9.2; Lee et al. 2019, property 1",
    suits=once,
)
def translation(library: Library, case: Case) -> float:
    """A convolution is equivariant to translations, not to permutations; attention without positions to all of them."""
    x, order, ratios = case.tokens(), np.array([2, 0, 4, 1, 3]), []
    layers = dict(three(library, case))
    p = case.parameters(layers["Convolution"].shapes())
    wanted, plain = convolution(exact(x, case.dtype), float64(p)), library.call(layers["Convolution"], p, x)
    shifted = library.call(layers["Convolution"], p, np.roll(x, 1, axis=1))
    inside = wanted.at(slice(1, -2))
    ratios.append(same("shifted convolution", case, shifted[:, 2:-1], plain[:, 1:-2], inside))
    moved = library.call(layers["Convolution"], p, x[:, order])
    differ("permuted convolution", moved, plain[:, order], wanted)
    p = case.parameters(layers["MultiHead"].shapes())
    wanted = defined("MultiHead", exact(x, case.dtype), float64(p), case).at(order)
    moved, plain = (library.call(layers["MultiHead"], p, tokens) for tokens in (x[:, order], x))
    ratios.append(same("permuted attention", case, moved, plain[:, order], wanted))
    return max(ratios)


def flowing(library: Library, layer: Any, case: Case, n: int, tokens: Any = slice(None), depth: int = 1) -> Flow:
    """``depth`` applications of the layer to n tokens. Missing if it is not written over the array API standard."""
    cost = Cost()
    p = {name: constant(a, cost) for name, a in case.parameters(layer.shapes()).items()}
    x = sources(np.asarray(case.rng("flow", n).standard_normal((1, n, case.width))), tokens, cost)
    try:
        for _ in range(depth):
            x = layer(p, x)
    except Exception as error:
        raise Missing(f"it does not go over the array API standard: {type(error).__name__}: {error}") from error
    return x


@layer_invariant(
    "sequential_steps",
    formula="longest chain of operations: attention and convolution O(1), recurrence O(n)",
    source=TABLE + ", sequential operations",
    suits=once,
)
def sequential_steps(library: Library, case: Case) -> float:
    """As n grows, attention and convolution take as many steps one after the other; recurrence some for each token."""
    for name, layer in three(library, case):
        steps = [int(flowing(library, layer, case, n).depth.max()) for n in (4, 8, 16)]
        grows = [steps[1] - steps[0], steps[2] - steps[1]]
        good = grows[1] == 2 * grows[0] > 0 if name == "Recurrent" else grows == [0, 0]
        if not good:
            raise Violation(f"{name}, steps for 4, 8 and 16 tokens: came {steps}")
    return 0.0


@layer_invariant(
    "operations",
    formula="attention a·n² + b·n + c with a > 0; convolution and recurrence b·n + c",
    source=TABLE + ", complexity per layer: n²·d, k·n·d², n·d²",
    suits=once,
)
def operations(library: Library, case: Case) -> float:
    """The operations of attention grow with the square of n, those of convolution and recurrence with n."""
    for name, layer in three(library, case):
        counts = [flowing(library, layer, case, n).cost.operations for n in (4, 8, 12, 16)]
        second = np.diff(counts, 2)
        good = second[0] == second[1] > 0 if name == "MultiHead" else not second.any()
        if not good:
            raise Violation(f"{name}, operations for 4, 8, 12 and 16 tokens: came {counts}")
    return 0.0


@layer_invariant(
    "path_length",
    formula="layers from the first to the last of n tokens: attention 1, convolution ⌈(n − 1)/r⌉; recurrence 1",
    source=TABLE + ", maximum path length",
    suits=once,
)
def path_length(library: Library, case: Case) -> float:
    """Any two tokens are one layer of attention apart; a convolution needs more layers, recurrence more steps."""
    layers = dict(three(library, case))
    for n in (4, 7):
        for name, wanted in (("MultiHead", 1), ("Convolution", n - 1)):
            reached = [np.isfinite(end(library, layers[name], case, n, depth)) for depth in range(1, n + 1)]
            came = 1 + reached.index(True) if True in reached else None
            if came != wanted:
                raise Violation(
                    f"{name}, layers from the first to the last of {n} tokens: wanted {wanted}, came {came}"
                )
    for name, layer in layers.items():
        near_by, far = (end(library, layer, case, n, n if name == "Convolution" else 1) for n in (4, 8))
        if (near_by < far) != (name != "MultiHead"):
            raise Violation(f"{name}, steps from the first to the last of 4 and 8 tokens: came {near_by}, {far}")
    return 0.0


def end(library: Library, layer: Any, case: Case, n: int, depth: int) -> float:
    """The longest chain from the first of n tokens to the last, through so many layers."""
    return float(flowing(library, layer, case, n, slice(0, 1), depth).depth[:, -1].max())
