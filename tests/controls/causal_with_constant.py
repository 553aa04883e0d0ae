"""Allowed places of the causal mask get +1 instead of 0, which the softmax cancels."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
REPORTS = ("C30",)


class Control(Steps):
    def added(self, scores):
        return super().added(scores) + (1 if self.is_causal else 0)


def attention(query, key, value, *, is_causal=False, mask=None, scale=None, return_weights=False):
    return Control.attention(
        query, key, value, is_causal=is_causal, mask=mask, scale=scale, return_weights=return_weights
    )
