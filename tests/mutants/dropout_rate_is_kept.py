"""The dropout rate is read as the fraction to keep."""

from attnspec.mutants.correct.numpy_dropout import Dropping

ARRAYS = "numpy"
KILLED_BY = "dropout.rate"
REPORTS = ()


class Mutant(Dropping):
    def kept(self, shape):
        return self.rng().random(shape) < self.rate


attention = Mutant.attention
