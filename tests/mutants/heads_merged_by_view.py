"""Heads are merged by a view without a transpose: their columns mix tokens."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "shape.multi_head"
REPORTS = ("G3",)


class Mutant(Steps):
    def weighted(self, weights, visible):
        output = super().weighted(weights, visible)
        return output.swapaxes(1, 2).reshape(output.shape)


attention = Mutant.attention
