"""The ALiBi distance is one more throughout a row, which the softmax cancels."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
REPORTS = ("N10",)


class Control(Steps):
    def distance(self):
        return super().distance() + 1


def attention(query, key, value, *, alibi_slopes=None, is_causal=False, return_weights=False):
    return Control.attention(
        query, key, value, alibi_slopes=alibi_slopes, is_causal=is_causal, return_weights=return_weights
    )
