"""The path that also returns the log-sum-exp does not cap the scores of the output."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.extras"
REPORTS = ()


class Mutant(Steps):
    def capped(self, scores):
        return scores if self.return_lse else super().capped(scores)


attention = Mutant.attention
