"""SemBERT: BERT's states of words, joined by what each word's semantic roles are.

Zhang et al., *Semantics-aware BERT for Language Understanding* (2020), section 3: a word's subwords go through a
convolution and a maximum, its roles under each predicate through an embedding and a bidirectional GRU, and both stand
side by side. The roles come from a labeller, which is no part of the model.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from array_api_compat import array_namespace, device, is_array_api_obj

from attnspec.impls.layers.checks import described, holds, is_kind
from attnspec.impls.layers.embedding import Embedding
from attnspec.impls.layers.feedforward import relu
from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.linear import Linear
from attnspec.impls.layers.parameters import Array, within
from attnspec.impls.models.bert import Bert
from attnspec.impls.models.gru import Gru
from attnspec.impls.models.model import Model, States


@dataclass(frozen=True)
class Roles(Layer):
    """Labels (B, predicates, w) of w words to (B, w, outputs): the paper's section on encoding."""

    labels: int
    predicates: int
    width: int
    outputs: int

    def parts(self) -> dict[str, Layer]:
        """embedding, forwards and backwards, and dense over all predicates together."""
        return {
            "embedding": Embedding(self.labels, self.width),
            "forwards": Gru(self.width, self.width),
            "backwards": Gru(self.width, self.width, backwards=True),
            "dense": Linear(2 * self.width * self.predicates, self.outputs),
        }

    def __call__(self, parameters: Mapping[str, Array], labels: Array) -> Array:
        """Represent them. ValueError for another number of predicates, or unknown labels."""
        part, xp = self.bind(parameters, labels), array_namespace(labels)
        good = is_kind(labels, "integral") and labels.ndim == 3 and labels.shape[1] == self.predicates
        self.want(good, f"labels (B, {self.predicates}, w) of integers", described(labels))
        batch, predicates, words = labels.shape
        x = part["embedding"](xp.reshape(labels, (batch * predicates, words)))
        both = xp.concat([part["forwards"](x), part["backwards"](x)], axis=2)  # (B·predicates, w, 2·width)
        apart = xp.permute_dims(xp.reshape(both, (batch, predicates, words, 2 * self.width)), (0, 2, 1, 3))
        return part["dense"](xp.reshape(apart, (batch, words, 2 * self.width * predicates)))


@dataclass(frozen=True)
class Words(Layer):
    """States (B, n, width) of subwords to those of words (B, w, width): the paper's section on integration.

    relu(W·[x_i, …, x_{i+kernel−1}] + b), subwords of other words being 0, and the maximum over the word.
    """

    width: int
    kernel: int = 3

    def parts(self) -> dict[str, Layer]:
        """dense, W and b."""
        return {"dense": Linear(self.kernel * self.width, self.width)}

    def __call__(self, parameters: Mapping[str, Array], x: Array, words: Array, count: int) -> Array:
        """``words`` (B, n): which of the ``count`` words a token is of, −1 for none; a word without tokens is 0."""
        part, xp = self.bind(parameters, x), array_namespace(x)
        near = [self._shifted(x, words, j) for j in range(self.kernel)]
        y = relu(part["dense"](xp.concat(near, axis=2)))  # (B, n, width), nowhere below 0
        of = words[:, None, :] == xp.arange(count, device=device(x))[None, :, None]  # (B, count, n)
        return xp.max(xp.where(of[..., None], y[:, None, :, :], xp.zeros_like(y[:, None, :, :])), axis=2)

    def _shifted(self, x: Array, words: Array, by: int) -> Array:
        """x_{i+by} where that is of the same word, else 0."""
        xp = array_namespace(x)
        by = min(by, x.shape[1])
        same = xp.concat([words[:, by:] == words[:, : x.shape[1] - by], words[:, :by] != words[:, :by]], axis=1)
        moved = xp.concat([x[:, by:, :], 0 * x[:, :by, :]], axis=1)
        return xp.where(same[:, :, None], moved, 0 * moved)


@dataclass(frozen=True)
class SemBert(Model):
    """ids (B, n) to the states of ``bert``, and last to those of words (B, w, width + outputs).

    labels: kinds of semantic role; predicates: labellings of a sentence; role_width: of their embedding.
    """

    bert: Bert
    labels: int
    predicates: int = 3
    role_width: int = 10
    outputs: int = 10

    def parts(self) -> dict[str, Layer]:
        """bert, words and roles."""
        return {
            "bert": self.bert,
            "words": Words(self.bert.width),
            "roles": Roles(self.labels, self.predicates, self.role_width, self.outputs),
        }

    def states(
        self,
        parameters: Mapping[str, Array],
        ids: Array,
        *,
        words: Array,
        labels: Array,
        mask: Array | None = None,
        segments: Array | None = None,
    ) -> States:
        """words (B, n): the word of each token, −1 for none; labels (B, predicates, w): the words' roles."""
        part, xp = self.bind(parameters, ids), array_namespace(ids)
        self.want_tokens(ids, self.bert.longest, mask, segments=segments, words=words)
        fits = is_array_api_obj(labels) and labels.ndim == 3 and labels.shape[0] == ids.shape[0]
        self.want(fits, f"labels ({ids.shape[0]}, {self.predicates}, w), for as many as the ids", described(labels))
        count = labels.shape[2]
        self.want(holds((words >= -1) & (words < count)), f"words from -1 to {count - 1}", "others")
        states = self.bert.states(within(parameters, "bert"), ids, mask=mask, segments=segments)
        of_words = part["words"](states[-1], words, count)
        return [*states, xp.concat([of_words, part["roles"](labels)], axis=2)]
