"""Any number is taken for a dropout rate: at 1.5 all weights are dropped, below 0 they shrink."""

from attnspec.mutants.correct.numpy_dropout import Dropping

ARRAYS = "numpy"
KILLED_BY = "rejection.dropout_rate"
REPORTS = ()


class Mutant(Dropping):
    UNCHECKED = ("dropout_rate",)


attention = Mutant.attention
