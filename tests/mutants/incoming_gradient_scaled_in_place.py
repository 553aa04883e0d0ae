"""The backward pass scales the gradient that comes in where it stands."""

import torch

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "gradient.arguments_unchanged"
REPORTS = ()
LACKS = {"vectorize", "compile"}


class Passing(torch.autograd.Function):
    @staticmethod
    def forward(context, output):
        return output.clone()

    @staticmethod
    def backward(context, gradient):
        passed = gradient.clone()
        gradient.mul_(2)
        return passed


class Mutant(Steps):
    @classmethod
    def attention(cls, query, key, value, *, mask=None):
        return Passing.apply(super().attention(query, key, value, mask=mask))


attention = Mutant.attention
