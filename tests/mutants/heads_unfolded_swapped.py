"""Heads are folded as (B, H) and unfolded as (H, B): samples and heads change places."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "symmetry.batch_independence"
REPORTS = ("G4",)


class Mutant(Steps):
    def weighted(self, weights, visible):
        output = super().weighted(weights, visible)
        batch, heads, *rest = output.shape
        return output.reshape(heads, batch, *rest).swapaxes(0, 1)


attention = Mutant.attention
