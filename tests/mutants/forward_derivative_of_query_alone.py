"""The forward derivative leaves out what the values contribute."""

import torch

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "derivative.forward"
REPORTS = ()
LACKS = {"compile", "vectorize", "double_gradient"}


class Still(torch.autograd.Function):
    @staticmethod
    def forward(array):
        return array.clone()

    @staticmethod
    def setup_context(context, inputs, output):
        pass

    @staticmethod
    def backward(context, gradient):
        return gradient

    @staticmethod
    def jvp(context, tangent):
        return torch.zeros_like(tangent)


class Mutant(Steps):
    mask = bias = scale = softcap = None
    is_causal = return_weights = return_lse = False


def attention(query, key, value):
    return Mutant().run(query, key, Still.apply(value))
