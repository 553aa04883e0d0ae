"""The sinks are scaled like scores."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ()


class Mutant(Steps):
    def softmax(self, scores, visible):
        if self.sinks is not None:
            self.sinks = (self.sinks * self.default_scale()).astype(self.query.dtype)
        return super().softmax(scores, visible)


attention = Mutant.attention
