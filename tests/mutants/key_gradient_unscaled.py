"""The keys' gradient lacks the scale."""

import math

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "gradient.oracle"
REPORTS = ("J5",)


class Mutant(Steps):
    def scores(self):
        scores, factor = super().scores(), 1 / math.sqrt(self.query.shape[3] or 1) if self.scale is None else self.scale
        through = self.query.detach() @ self.per_query_head(self.key).mT
        return scores + (1 - factor) * (through - through.detach())


attention = Mutant.attention
