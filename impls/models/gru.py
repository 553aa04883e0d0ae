"""The gated recurrent unit: Cho et al. (2014), section 2.3, in the form that PyTorch has."""

from collections.abc import Mapping
from dataclasses import dataclass

from array_api_compat import array_namespace, device

from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.linear import Linear
from attnspec.impls.layers.parameters import Array


@dataclass(frozen=True)
class Gru(Layer):
    """x (B, n, inputs) to (B, n, width), token by token, h₀ = 0; ``backwards`` goes from the last to the first.

    r and z = σ(W·x_t + U·h_{t−1}), c = tanh(W_c·x_t + r∘(U_c·h_{t−1})), h_t = (1 − z)∘c + z∘h_{t−1}.
    """

    inputs: int
    width: int
    backwards: bool = False

    def parts(self) -> dict[str, Layer]:
        """input, W, and hidden, U: the rows of r, of z and of c one after the other, as PyTorch has them."""
        return {"input": Linear(self.inputs, 3 * self.width), "hidden": Linear(self.width, 3 * self.width)}

    def __call__(self, parameters: Mapping[str, Array], x: Array) -> Array:
        """Go through the tokens. ValueError for parameters or widths that do not fit."""
        part, xp = self.bind(parameters, x), array_namespace(x)
        self.want_width(x, self.inputs)
        given = part["input"](x)  # (B, n, 3·width)
        state = xp.zeros((x.shape[0], 1, self.width), dtype=x.dtype, device=device(x))
        states: list[Array] = []
        order = range(x.shape[1])
        for t in reversed(order) if self.backwards else order:
            state = self._next(given[:, t : t + 1, :], part["hidden"](state), state)
            states.append(state)
        return xp.concat(states[::-1] if self.backwards else states, axis=1) if states else state[:, :0, :]

    def _next(self, given: Array, recalled: Array, state: Array) -> Array:
        xp, width = array_namespace(given), self.width
        gates = 1 / (1 + xp.exp(-(given[..., : 2 * width] + recalled[..., : 2 * width])))
        reset, update = gates[..., :width], gates[..., width:]
        candidate = xp.tanh(given[..., 2 * width :] + reset * recalled[..., 2 * width :])
        return (1 - update) * candidate + update * state
