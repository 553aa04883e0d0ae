"""The backward pass takes the log-sum-exp for half of what it is."""

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "derivative.lse"
REPORTS = ()


class Mutant(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        return weights, (lse + lse.detach()) / 2


attention = Mutant.attention
