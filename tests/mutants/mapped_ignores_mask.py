"""A mapped call ignores its mask."""

import torch

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "purity.vectorized"
REPORTS = ("P4",)


class Mutant(Steps):
    def visible(self):
        if torch._C._functorch.is_batchedtensor(self.query):
            self.mask = None
        return super().visible()


attention = Mutant.attention
