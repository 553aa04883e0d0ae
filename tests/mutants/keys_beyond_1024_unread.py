"""One tile of 1024 keys is read, and what lies beyond it is left out."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "definition.output"
REPORTS = ("K11",)


class Mutant(Steps):
    def visible(self):
        visible = super().visible()
        visible[..., 1024:] = False
        return visible


attention = Mutant.attention
