"""The backward pass draws a dropout mask of its own."""

import torch

from attnspec.mutants.correct.torch_steps import Steps

ARRAYS = "torch"
KILLED_BY = "dropout.gradient"
REPORTS = ()


def dropped(weights, rate, seed):
    drawn = torch.rand(weights.shape, generator=torch.Generator().manual_seed(seed))
    return (weights / (1 - rate)).masked_fill(drawn < rate, 0)


class Mutant(Steps):
    mask = bias = scale = softcap = None
    is_causal = return_weights = return_lse = False

    def weighted(self, weights, visible):
        if not self.rate:
            return super().weighted(weights, visible)
        forward, backward = (dropped(weights, self.rate, (self.seed or 0) + n) for n in (0, 1))
        value = self.per_query_head(self.value)
        return forward @ value.detach() + backward.detach() @ (value - value.detach())


def attention(query, key, value, *, dropout_rate=0.0, seed=None):
    call = Mutant()
    call.rate, call.seed = dropout_rate, seed
    return call.run(query, key, value)
