"""With one query and grouped heads, queries and group change places."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "heads.gqa_is_repetition"
REPORTS = ("H17",)


class Mutant(Steps):
    def finish(self, output, weights, lse):
        if self.shape[2] == 1 and self.key.shape[1] < self.shape[1]:
            output = output[:, ::-1]
        return super().finish(output, weights, lse)


attention = Mutant.attention
