"""Of a pack, keys and values get the gradient of the first query head of their group only."""

import torch

from attnspec.mutants.correct._torch_packing import Packed

ARRAYS = "torch"
KILLED_BY = "packing.gradient"
REPORTS = ("G11",)


class Mutant(Packed):
    def per_query_head(self, array):
        group = self.shape[1] // max(array.shape[1], 1)
        copies = torch.stack([array] + [array.detach()] * (group - 1), 2)
        return copies.flatten(1, 2)


attention, attend_packed = Packed.attention, Mutant.attend_packed
