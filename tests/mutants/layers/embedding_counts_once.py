"""The gradient of a row that several tokens read is that of one of them."""

from dataclasses import dataclass

import torch

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "torch"
KILLED_BY = "layers.embedding_gradient"
REPORTS = ()


class Lookup(torch.autograd.Function):
    @staticmethod
    def forward(context, weight, ids):
        context.save_for_backward(ids)
        context.count = weight.shape[0]
        return weight[ids]

    @staticmethod
    def backward(context, gradient):
        (ids,) = context.saved_tensors
        rows = gradient.new_zeros(context.count, gradient.shape[-1])
        rows[ids.reshape(-1)] = gradient.reshape(-1, gradient.shape[-1])
        return rows, None


@dataclass(frozen=True)
class Embedding(layers.Embedding):
    def __call__(self, parameters, ids):
        self.bind(parameters, ids)
        return Lookup.apply(parameters["weight"], ids)
