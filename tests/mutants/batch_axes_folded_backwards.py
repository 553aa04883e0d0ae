"""Two axes of the batch are folded in the wrong order."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "rejection.rank"
REPORTS = ()


class Mutant(Steps):
    UNCHECKED = ("rank",)

    def lifted(self, array):
        if array.ndim == 5:
            array = array.swapaxes(0, 1).reshape(-1, *array.shape[2:])
        return super().lifted(array)


attention = Mutant.attention
