"""Grouped queries read the mean of all key/value heads."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "heads.groups_are_apart"
REPORTS = ("G10",)


class Mutant(Steps):
    def per_query_head(self, array):
        if array.shape[1] < self.shape[1]:
            array = array.mean(1, keepdims=True)
        return super().per_query_head(array)


attention = Mutant.attention
