"""Offsets are taken as they come, whatever they say."""

from attnspec.mutants.correct.numpy_packing import Packed

ARRAYS = "numpy"
KILLED_BY = "packing.malformed"
REPORTS = ()


class Mutant(Packed):
    UNCHECKED = ("offsets",)


attention, attend_packed = Mutant.attention, Mutant.attend_packed
