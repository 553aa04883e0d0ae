"""numba_blockwise with small tiles and blocks and threads early, so that the problems of the pool have several."""

import sys
from importlib.util import find_spec, module_from_spec

spec = find_spec("attnspec.impls.blockwise.numba")
compiled = sys.modules["numba_small_tiles_compiled"] = module_from_spec(spec)
spec.loader.exec_module(compiled)
compiled.STRIP, compiled.KEYS = 5, 24

spec = find_spec("attnspec.impls.numba_blockwise")
blockwise = sys.modules["numba_small_tiles"] = module_from_spec(spec)
spec.loader.exec_module(blockwise)
blockwise.solvers, blockwise.QUERIES, blockwise.SMALL = compiled.solvers, 16, 1 << 12

ARRAYS, PACKAGES, DTYPES, CONVENTIONS = blockwise.ARRAYS, blockwise.PACKAGES, ("float32",), blockwise.CONVENTIONS
attention = blockwise.attention
