"""Of a key wider than the query the rest is left out."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.width"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("width",)

    def scores(self):
        self.key = self.key[..., : self.query.shape[3]]
        return super().scores()


attention = Mutant.attention
