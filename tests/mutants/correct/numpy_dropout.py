"""Attention with dropout in NumPy, in steps for a mutant to replace."""

import inspect

import numpy as np

from attnspec.mutants.correct._checks import check
from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
DTYPES = ("float64", "float32", "float16", "bfloat16")
CONVENTIONS = {"intermediate_dtype": "float32"}

OPTIONS = {
    p.name: p.default for p in inspect.signature(Steps.attention).parameters.values() if p.kind == p.KEYWORD_ONLY
}


class Dropping(Steps):
    """Each weight is dropped with probability ``rate``, else divided by 1 - rate."""

    @classmethod
    def attention(cls, query, key, value, *, mask=None, dropout_rate=0.0, seed=None, return_weights=False):
        options = {**OPTIONS, "mask": mask, "return_weights": return_weights}
        check(query, key, value, options)
        if "dropout_rate" not in cls.UNCHECKED and not 0 <= dropout_rate < 1:
            raise ValueError(f"dropout_rate: malformed, {dropout_rate} in attention()")
        with np.errstate(all="ignore"):
            call = cls(query, key, value, options)
            call.rate, call.seed = dropout_rate, seed
            return call.run()

    def weighted(self, weights, visible):
        return super().weighted(self.dropped(weights) if self.rate else weights, visible)

    def dropped(self, weights):
        return np.where(self.kept(weights.shape), weights / weights.dtype.type(1 - self.rate), 0)

    def kept(self, shape):
        return self.rng().random(shape) >= self.rate

    def rng(self):
        return np.random.default_rng(self.seed)


attention = Dropping.attention
