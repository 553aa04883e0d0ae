"""Keys are remembered by their address and size, not by their contents."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KILLED_BY = "purity.storage"
REPORTS = ()

SEEN = {}


class Mutant(Steps):
    def __init__(self, query, key, value, options):
        super().__init__(query, key, value, options)
        self.key = remembered(key, self.key)


def remembered(original, lifted):
    where = original.__array_interface__["data"][0], original.shape, str(original.dtype)
    if where in SEEN and SEEN[where][0] is original:
        return SEEN[where][1]
    SEEN.clear()
    SEEN[where] = original, lifted.copy()
    return lifted


attention = Mutant.attention
