"""Of several sequences, the columns of the query past the last full pair get no gradient; the output is right."""

import torch

from attnspec.mutants.correct._torch_packing import Packed

ARRAYS = "torch"
KILLED_BY = "packing.gradient"
REPORTS = ("J5",)


class Mutant(Packed):
    @classmethod
    def one(cls, number, query, key, value, options):
        full = query.shape[2] // 2 * 2 if number else query.shape[2]
        cut = torch.cat([query[..., :full], query[..., full:].detach()], dim=2)
        return super().one(number, cut, key, value, options)


attention, attend_packed = Packed.attention, Mutant.attend_packed
