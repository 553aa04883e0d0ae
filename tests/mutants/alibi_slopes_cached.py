"""The ALiBi slopes are cached, and cut to the number of heads."""

from attnspec.mutants.correct import numpy_positions

ARRAYS = "numpy"
KILLED_BY = "positions.alibi_slopes"
REPORTS = ("N7",)

CACHE = []


def make_alibi_slopes(heads):
    if not CACHE or len(CACHE[0]) < heads:
        CACHE[:] = [numpy_positions.make_alibi_slopes(heads)]
    return CACHE[0][:heads]


attention = numpy_positions.attention
