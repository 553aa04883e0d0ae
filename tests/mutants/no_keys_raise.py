"""An input without keys crashes instead of giving empty rows."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "contract.claims"
REPORTS = ("H8",)


class Mutant(Steps):
    def top(self, logits):
        logits.max(3)
        return super().top(logits)


attention = Mutant.attention
