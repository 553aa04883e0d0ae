"""The bias is detached: it has a gradient of 0."""

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "derivative.options"
REPORTS = ()


class Mutant(Steps):
    def added(self, scores):
        self.bias = None if self.bias is None else self.bias.detach()
        return super().added(scores)


attention = Mutant.attention
