"""The weights are cut off from the gradient: queries and keys get none."""

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "gradient.oracle"
REPORTS = ()


class Mutant(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        return weights.detach(), lse


attention = Mutant.attention
