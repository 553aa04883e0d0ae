"""The weights returned are those after dropout."""

from attnspec.mutants.correct.numpy_dropout import Dropping

ARRAYS = "numpy"
KILLED_BY = "dropout.weights_returned"
REPORTS = ()


class Mutant(Dropping):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        return (self.dropped(weights) if self.rate else weights), lse

    def weighted(self, weights, visible):
        rate, self.rate = self.rate, 0
        output = super().weighted(weights, visible)
        self.rate = rate
        return output


attention = Mutant.attention
