"""Other sequences are hidden by weights of 0 alone: NaN in their values shows through."""

from attnspec.mutants.correct.numpy_packing import Packed

ARRAYS = "numpy"
KILLED_BY = "packing.others_unread"
REPORTS = ()


class Mutant(Packed):
    def weighted(self, weights, visible):
        return weights @ self.per_query_head(self.value)


attention, attend_packed = Mutant.attention, Mutant.attend_packed
