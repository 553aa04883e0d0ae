"""The softcap's derivative is left out of the backward pass."""

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "gradient.oracle"
REPORTS = ("J6",)


class Mutant(Steps):
    def capped(self, scores):
        return super().capped(scores).detach() + scores - scores.detach()


attention = Mutant.attention
