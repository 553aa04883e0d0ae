"""The gradient is computed once and for all: its own gradient is 0, without a word."""

import torch

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "derivative.second"
REPORTS = ("P12",)
LACKS = {"compile", "vectorize", "forward_gradient"}


def plain(query, key, value):
    call = Steps()
    call.mask = call.bias = call.scale = call.softcap = None
    call.is_causal = call.return_weights = call.return_lse = False
    return call.run(query, key, value)


class Once(torch.autograd.Function):
    @staticmethod
    def forward(context, *inputs):
        context.save_for_backward(*inputs)
        return plain(*inputs)

    @staticmethod
    def backward(context, gradient):
        with torch.enable_grad():
            leaves = [array.detach().requires_grad_() for array in context.saved_tensors]
            return torch.autograd.grad(plain(*leaves), leaves, gradient.detach())


def attention(query, key, value):
    return Once.apply(query, key, value)
