"""Causality, windows and ALiBi end at the last key, declared."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"causal_alignment": "bottom-right"}


class Control(Steps):
    def offset(self):
        return self.shape[3] - self.shape[2]


def attention(query, key, value, *, is_causal=False, window=None, alibi_slopes=None, return_lse=False):
    return Control.attention(
        query, key, value, is_causal=is_causal, window=window, alibi_slopes=alibi_slopes, return_lse=return_lse
    )
