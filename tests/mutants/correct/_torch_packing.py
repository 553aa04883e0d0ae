"""Packed sequences in PyTorch, one by one. A mutant replaces the steps of one, or what it is handed.

No control, which would compile every shape for minutes: tests/test_packing.py holds it to the packing family alone.
"""

import torch

from attnspec.mutants.correct.torch_steps import Steps


class Packed(Steps):
    """``attend_packed`` over queries of (T, Hq, D), keys of (S, Hkv, D) and values of (S, Hkv, Dv)."""

    @classmethod
    def attend_packed(cls, query, key, value, query_offsets, key_offsets, *, is_causal=False, scale=None, softcap=None):
        if len(query_offsets) != len(key_offsets):
            raise ValueError("attend_packed: wanted as many sequences of queries as of keys")
        queries, keys = cls.lengths(query_offsets, query), cls.lengths(key_offsets, key)
        sequences = zip(query.split(queries), key.split(keys), value.split(keys), strict=True)
        options = {"is_causal": is_causal, "scale": scale, "softcap": softcap}
        nothing = query.new_zeros(0, query.shape[1], value.shape[2])
        return torch.cat([nothing, *(cls.one(number, *own, options) for number, own in enumerate(sequences))])

    @staticmethod
    def lengths(offsets, tokens):
        lengths, whole = offsets.diff().tolist(), not offsets.is_floating_point() and len(offsets) > 0
        if not (whole and min(lengths, default=0) >= 0 and offsets[0] == 0 and offsets[-1] == len(tokens)):
            raise ValueError(f"attend_packed: wanted offsets rising from 0 to {len(tokens)}")
        return lengths

    @classmethod
    def one(cls, number, query, key, value, options):
        """(n, Hq, Dv): the sequence of that number."""
        return cls.attention(*(a.transpose(0, 1) for a in (query, key, value)), **options).transpose(0, 1)
