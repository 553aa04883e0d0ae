"""The first value is detached: its gradient is 0."""

import torch

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "influence.gradients"
REPORTS = ()


class Mutant(Steps):
    def run(self, query, key, value):
        first, rest = value[..., :1, :].detach(), value[..., 1:, :]
        return super().run(query, key, torch.cat([first, rest], dim=-2))


attention = Mutant.attention
