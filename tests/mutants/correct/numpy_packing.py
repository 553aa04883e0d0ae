"""Packed sequences in NumPy as a chain of steps over the whole pack. A mutant replaces one of them.

Shapes: T queries and S keys in all, N sequences, Hq query heads, Hkv key/value heads, D key and Dv value dimension.
"""

import numpy as np

from attnspec.mutants.correct import numpy_steps
from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}


class Packed(Steps):
    """One call: tokens see those of their own sequence, found by where the offsets place them."""

    @staticmethod
    def attention(query, key, value, *, scale=None, query_segments=None, key_segments=None):
        segments = {"query_segments": query_segments, "key_segments": key_segments}
        return numpy_steps.attention(query, key, value, scale=scale, **segments)

    @classmethod
    def attend_packed(
        cls,
        query,
        key,
        value,
        query_offsets,
        key_offsets,
        *,
        is_causal=False,
        scale=None,
        window=None,
        softcap=None,
        alibi_slopes=None,
        sinks=None,
    ):
        cls.check_offsets(query_offsets, len(query))
        cls.check_offsets(key_offsets, len(key))
        if len(query_offsets) != len(key_offsets) and "offsets" not in cls.UNCHECKED:
            raise ValueError("attend_packed: wanted as many sequences of queries as of keys")
        options = dict.fromkeys(("mask", "bias", "key_lengths", "return_weights", "return_lse"))
        options |= {"is_causal": is_causal, "scale": scale, "window": window, "softcap": softcap}
        options |= {"alibi_slopes": alibi_slopes, "sinks": sinks}
        options |= {"query_offsets": query_offsets, "key_offsets": key_offsets}
        with np.errstate(all="ignore"):
            output = cls(*(a.swapaxes(0, 1) for a in (query, key, value)), options).run()
        return np.ascontiguousarray(output.swapaxes(0, 1))

    @classmethod
    def check_offsets(cls, offsets, tokens):
        rising = offsets.dtype.kind == "i" and offsets.size and (np.diff(offsets) >= 0).all()
        if "offsets" not in cls.UNCHECKED and not (rising and offsets[0] == 0 and offsets[-1] == tokens):
            raise ValueError(f"attend_packed: wanted offsets rising from 0 to {tokens}")

    def query_sequence(self):
        """(T,): which sequence each query is of."""
        return self.sequence(self.query_offsets, self.shape[2])

    def key_sequence(self):
        return self.sequence(self.key_offsets, self.shape[3])

    def sequence(self, offsets, tokens):
        return np.searchsorted(offsets, np.arange(tokens), side="right") - 1

    def place(self, offsets, tokens):
        """Where in its sequence each token stands."""
        return np.arange(tokens) - offsets[self.sequence(offsets, tokens)]

    def behind(self):
        query, key = self.place(self.query_offsets, self.shape[2]), self.place(self.key_offsets, self.shape[3])
        return query[:, None] - key

    def by_segment(self):
        return self.query_sequence()[:, None] == self.key_sequence()


attention, attend_packed = Packed.attention, Packed.attend_packed
