"""Keys and values get the gradient of the first query head of their group only."""

import torch

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "gradient.oracle"
REPORTS = ("G11",)


class Mutant(Steps):
    def per_query_head(self, array):
        group = self.shape[1] // max(array.shape[1], 1)
        copies = torch.stack([array] + [array.detach()] * (group - 1), 2)
        return copies.flatten(1, 2)


attention = Mutant.attention
