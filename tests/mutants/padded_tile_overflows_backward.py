"""The backward pass weighs padding by exp(0 - lse), which overflows for strongly negative scores: 0·inf."""

import torch

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "gradient.oracle"
REPORTS = ("J1", "J4")


class Mutant(Steps):
    def softmax(self, scores, visible):
        weights, lse = super().softmax(scores, visible)
        return Padded.apply(weights, lse.detach()), lse


class Padded(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(weights, lse):
        return weights.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx, gradient):
        return gradient + 0 * torch.exp(0 - ctx.saved_tensors[0].nan_to_num(0, 0, 0))[..., None], None


attention = Mutant.attention
