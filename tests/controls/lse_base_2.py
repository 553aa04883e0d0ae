"""The log-sum-exp is a logarithm to base 2, declared."""

import numpy as np

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
CONVENTIONS = {"lse_base": 2}


class Control(Steps):
    def finish(self, output, weights, lse):
        return super().finish(output, weights, lse / lse.dtype.type(np.log(2)))


def attention(query, key, value, *, mask=None, sinks=None, return_lse=False):
    return Control.attention(query, key, value, mask=mask, sinks=sinks, return_lse=return_lse)
