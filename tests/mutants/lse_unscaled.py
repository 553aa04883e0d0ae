"""The log-sum-exp is that of the unscaled scores, so parts merge with wrong shares."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "composition.merge_by_lse"
REPORTS = ("L6",)


class Mutant(Steps):
    def finish(self, output, weights, lse):
        self.scale = 1.0
        _, lse = self.softmax(self.added(self.capped(self.scores())), self.visible())
        return super().finish(output, weights, lse)


attention = Mutant.attention
