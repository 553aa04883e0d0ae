"""The softcap is accepted and dropped, where it should be refused."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
LACKS = {"softcap"}
KILLED_BY = "contract.lacks"
REPORTS = ("I6",)


class Mutant(Steps):
    def capped(self, scores):
        return scores


attention = Mutant.attention
