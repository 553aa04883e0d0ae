"""The sum begins at what a refused call has left in the workspace."""

import functools

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.refusal"
REPORTS = ()

WORKSPACE = {"begin": 0.0}


class Mutant(Steps):
    def finish(self, output, weights, lse):
        output = output + output.dtype.type(WORKSPACE["begin"])
        WORKSPACE["begin"] = 0.0
        return super().finish(output, weights, lse)


@functools.wraps(Mutant.attention)
def attention(*arrays, **options):
    try:
        return Mutant.attention(*arrays, **options)
    except ValueError:
        WORKSPACE["begin"] = 1.0
        raise
