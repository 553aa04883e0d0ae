"""numpy_blockwise with small tiles and threads early, so that the problems of the pool have several."""

import sys
from importlib.util import find_spec, module_from_spec

from attnspec.impls.blockwise.numpy_problem import Sizes

spec = find_spec("attnspec.impls.numpy_blockwise")
blockwise = sys.modules["numpy_blockwise_small_tiles"] = module_from_spec(spec)
spec.loader.exec_module(blockwise)
blockwise.SIZES = Sizes(queries=16, keys=24, strip=5, small=1 << 12)

ARRAYS, DTYPES, CONVENTIONS = blockwise.ARRAYS, blockwise.DTYPES, blockwise.CONVENTIONS
attention = blockwise.attention
