"""Values are summed before they are divided, so large ones overflow, which is not declared."""

from attnspec.mutants.correct.numpy_tiles import Tiles

ARRAYS = "numpy"
CONVENTIONS = {"intermediate_dtype": "float32"}
KILLED_BY = "convention.value_range"
REPORTS = ()

attention = Tiles.attention
