"""In place of each row's maximum |q|·max|k| is subtracted, where it is not so far above that exponentials underflow."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"intermediate_dtype": "float32"}


class Control(Steps):
    def top(self, logits):
        top, key = super().top(logits), self.per_query_head(self.key)
        longest = np.sqrt((key * key).sum(3)).max(2, initial=0)[:, :, None, None]
        above = self.default_scale() * np.sqrt((self.query * self.query).sum(3, keepdims=True)) * longest
        return np.where((above >= top) & (above < top + 30) & np.isfinite(top), above, top)


def attention(query, key, value, *, mask=None, is_causal=False, return_lse=False):
    return Control.attention(query, key, value, mask=mask, is_causal=is_causal, return_lse=return_lse)
