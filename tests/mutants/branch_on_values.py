"""A Python branch on the scores' values runs eagerly and cannot be compiled."""

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "contract.claims"
REPORTS = ("P1",)


class Mutant(Steps):
    def softmax(self, scores, visible):
        if bool(scores.isnan().any()):
            scores = scores.nan_to_num()
        return super().softmax(scores, visible)


def attention(query, key, value, *, mask=None):
    return Mutant.attention(query, key, value, mask=mask)
