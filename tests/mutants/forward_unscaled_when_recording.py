"""The scale is left out of the output while gradients are recorded."""

import torch

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "gradient.forward_agrees"
REPORTS = ()


class Mutant(Steps):
    def weighted(self, weights, visible):
        output = super().weighted(weights, visible)
        return output * (1.5 if output.requires_grad and torch.is_grad_enabled() else 1)


attention = Mutant.attention
