"""The scale is read out of a tensor, which runs eagerly and cannot be compiled."""

from mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "contract.claims"
REPORTS = ("P1",)


class Mutant(Steps):
    def scores(self):
        self.scale = (
            (self.query.new_tensor(self.query.shape[3] or 1) ** -0.5).item() if self.scale is None else self.scale
        )
        return super().scores()


attention = Mutant.attention
