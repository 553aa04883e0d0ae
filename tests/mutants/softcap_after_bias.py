"""The bias is added before the softcap and capped with the scores, which is not declared."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "convention.softcap_order"
REPORTS = ("G9",)


class Mutant(Steps):
    def run(self):
        self.capped, self.added = self.added, self.capped
        return super().run()


attention = Mutant.attention
