"""What the models of BERT's family have in common: token ids in, a state for each token out, layer by layer."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from array_api_compat import array_namespace

from attnspec.impls.layers.checks import described, is_kind, want_ids, want_together
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
        self.want(state.ndim == 3 and state.shape[1] > 0, "a state (B, n, width), n ≥ 1", tuple(state.shape))
        return array_namespace(state).tanh(part["pooler"](state[:, :1, :]))[:, 0, :]

    def want_tokens(self, ids: Array, longest: int, mask: Array | None = None, **beside: Array | None) -> None:
        """ValueError unless ids and what is ``beside`` them are integers, ``mask`` is boolean, and all are (B, n)."""
        name = type(self).__name__
        want_ids(name, ids)
        self.want(ids.shape[1] <= longest, f"ids (B, n), n ≤ {longest}", tuple(ids.shape))
        given = {"mask": mask, **beside}
        arrays = {each: array for each, array in given.items() if array is not None}
        for each, array in arrays.items():
            kind = "bool" if each == "mask" else "integral"
            good = is_kind(array, kind) and array.shape == ids.shape
            words = "boolean" if each == "mask" else "of integers"
            self.want(good, f"{each} {tuple(ids.shape)}, as the ids, {words}", described(array))
        want_together(name, {"ids": ids, **arrays})


def keys_of(mask: Array | None) -> Array | None:
    """``mask`` (B, n) as one over keys: (B, 1, 1, n)."""
    return None if mask is None else mask[:, None, None, :]


def positions_of(ids: Array) -> Array:
    """0, 1, …, n − 1 for every sequence of ``ids`` (B, n)."""
    xp = array_namespace(ids)
    return xp.cumulative_sum(xp.ones_like(ids), axis=1) - 1
