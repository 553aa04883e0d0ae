"""The softcap stands in the signature and raises."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "contract.claims"
REPORTS = ()


class Mutant(Steps):
    def capped(self, scores):
        if self.softcap:
            raise NotImplementedError("softcap")
        return scores


attention = Mutant.attention
