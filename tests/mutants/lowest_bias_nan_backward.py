"""The backward pass multiplies the scores by log2(e): the lowest number overflows, and 0·inf is NaN."""

import math

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "gradient.oracle"
REPORTS = ("A13",)


class Mutant(Steps):
    def added(self, scores):
        scores = super().added(scores)
        if self.bias is not None and scores.requires_grad:
            powers = scores.detach() * math.log2(math.e)
            overflown = powers.isinf() & scores.detach().isfinite()
            scores.register_hook(lambda gradient: gradient.masked_fill(overflown, math.nan))
        return scores


attention = Mutant.attention
