"""The query is multiplied by the scale before the product."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"intermediate_dtype": "float32"}


class Control(Steps):
    def scores(self):
        factor = self.default_scale() if self.scale is None else self.scale
        return (self.query * factor) @ self.per_query_head(self.key).swapaxes(2, 3)


def attention(query, key, value, *, mask=None, bias=None, scale=None, return_weights=False):
    return Control.attention(query, key, value, mask=mask, bias=bias, scale=scale, return_weights=return_weights)
