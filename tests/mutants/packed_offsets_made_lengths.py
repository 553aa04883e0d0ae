"""The offsets are turned into lengths where they stand."""

from attnspec.mutants.correct.numpy_packing import Packed

ARRAYS = "numpy"
KILLED_BY = "packing.inputs_unchanged"
REPORTS = ()


class Mutant(Packed):
    def __init__(self, query, key, value, options):
        super().__init__(query, key, value, options | {"key_offsets": options["key_offsets"].copy()})
        options["key_offsets"][1:] -= self.key_offsets[:-1]


attention, attend_packed = Mutant.attention, Mutant.attend_packed
