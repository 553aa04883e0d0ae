"""NaN of empty rows is blanked after the softmax: the output is right, the gradients are NaN."""

import math

import torch

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "gradient.empty_rows_finite"
REPORTS = ("A3", "A10")


class Mutant(Steps):
    def softmax(self, scores, visible):
        _, lse = super().softmax(scores, visible)
        weights = (scores + torch.where(visible, 0, -math.inf).to(scores)).softmax(3)
        return weights.masked_fill(weights.isnan(), 0), lse


attention = Mutant.attention
