"""Scores that are exactly 0 are taken for masked ones."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "softmax.zero_query"
REPORTS = ()


class Mutant(Steps):
    def softmax(self, scores, visible):
        return super().softmax(scores, visible & (scores != 0))


attention = Mutant.attention
