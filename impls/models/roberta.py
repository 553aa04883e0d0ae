"""RoBERTa: BERT's network, trained otherwise, with positions that count from after the padding's id.

Liu et al. (2019), section 3; the positions are those of fairseq's code. CamemBERT (Martin et al., 2020) is the same
network for French.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from array_api_compat import array_namespace

from attnspec.impls.layers.parameters import Array
from attnspec.impls.models.bert import Bert
from attnspec.impls.models.model import States


@dataclass(frozen=True)
class Roberta(Bert):
    """ids (B, n) to states (B, n, width). ``padding``: the id that takes no position; length counts padding + 1 too."""

    length: int = 514
    segments: int = 1
    epsilon: float = 1e-5
    padding: int = 1

    LEAST: ClassVar[Mapping[str, int]] = {**Bert.LEAST, "padding": -1}

    @property
    def longest(self) -> int:
        """The most tokens of a sequence."""
        return self.length - self.padding - 1

    def states(
        self,
        parameters: Mapping[str, Array],
        ids: Array,
        *,
        mask: Array | None = None,
        segments: Array | None = None,
        positions: Array | None = None,
    ) -> States:
        """The states of ``ids`` (B, n); as for Bert, save that positions unless given are those of ``counted``."""
        self.want_tokens(ids, self.longest)
        positions = self.counted(ids) if positions is None else positions
        return super().states(parameters, ids, mask=mask, segments=segments, positions=positions)

    def counted(self, ids: Array) -> Array:
        """padding + 1, padding + 2, … for the tokens that are no padding; padding for those that are: (B, n)."""
        xp = array_namespace(ids)
        real = xp.astype(ids != self.padding, ids.dtype)
        return xp.cumulative_sum(real, axis=1) * real + self.padding
