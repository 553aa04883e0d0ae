"""The compiled program takes another scale than the eager one."""

import torch

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "purity.compiled"
REPORTS = ("P3",)


class Mutant(Steps):
    def scores(self):
        return super().scores() * (0.5 if torch.compiler.is_compiling() else 1)


attention = Mutant.attention
