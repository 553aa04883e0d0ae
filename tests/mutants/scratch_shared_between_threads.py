"""The queries of a call stand in a variable of the module: another thread's call overwrites them."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.threads"
REPORTS = ()

SCRATCH = {}


class Mutant(Steps):
    def __init__(self, query, key, value, options):
        super().__init__(query, key, value, options)
        SCRATCH["query"] = self.query

    def scores(self):
        if SCRATCH["query"].shape == self.query.shape:
            self.query = SCRATCH["query"]
        return super().scores()


attention = Mutant.attention
