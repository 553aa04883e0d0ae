"""What the models of BERT's family have in common: token ids in, a state for each token out, layer by layer."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from array_api_compat import array_namespace

from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.parameters import Array

States = list[Array]
"""(B, n, width) after the embedding and after each layer."""


class Model(Layer):
    """The base: a model says how it computes its ``states``."""

    NAMES: ClassVar[Mapping[str, str]] = {}
    """The module's name in the ``transformers`` package for each of ours, {} standing for a number."""

    @abstractmethod
    def states(self, parameters: Mapping[str, Array], *inputs: Array, **options: Any) -> States:
        """The states of the tokens ids (B, n); ``mask`` (B, n), True at tokens that are no padding."""

    def __call__(self, parameters: Mapping[str, Array], *inputs: Array, **options: Any) -> Array:
        """The last of ``states``: (B, n, width)."""
        return self.states(parameters, *inputs, **options)[-1]

    def pool(self, parameters: Mapping[str, Array], state: Array) -> Array:
        """What classifiers of whole sequences take: tanh of a dense layer over the first token's last state.

        state (B, n, width) to (B, width). ValueError for a model without ``pooler``.
        """
        part = self.bind(parameters, state)
        self.want("pooler" in part, "a model with a pooler", "one without")
        return array_namespace(state).tanh(part["pooler"](state[:, :1, :]))[:, 0, :]


def keys_of(mask: Array | None) -> Array | None:
    """``mask`` (B, n) as one over keys: (B, 1, 1, n)."""
    return None if mask is None else mask[:, None, None, :]


def positions_of(ids: Array) -> Array:
    """0, 1, …, n − 1 for every sequence of ``ids`` (B, n)."""
    xp = array_namespace(ids)
    return xp.cumulative_sum(xp.ones_like(ids), axis=1) - 1
