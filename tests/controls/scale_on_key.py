"""The key is multiplied by the scale before the product."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"


class Control(Steps):
    def scores(self):
        factor = self.default_scale() if self.scale is None else self.scale
        return self.query @ (self.per_query_head(self.key) * factor).swapaxes(2, 3)


def attention(query, key, value, *, is_causal=False, softcap=None, scale=None, return_lse=False):
    return Control.attention(
        query, key, value, is_causal=is_causal, softcap=softcap, scale=scale, return_lse=return_lse
    )
