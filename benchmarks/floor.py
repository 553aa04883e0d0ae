"""What the matrix products and exponentials of attention take alone, beside whole implementations.

``python -P -m attnspec.benchmarks.floor`` prints medians as multiples of PyTorch's. No implementation in tiles over an
array library is faster than its floor: both products and the exponentials of (1, 8, n, 64) in float32, in the tiles of
our blockwise backends, without scaling, masks, maxima, sums or quotients. The contenders take turns.
"""

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnspec.benchmarks.minilm import timed
from attnspec.impls import jax_blockwise, numpy_blockwise, torch_blockwise
from attnspec.impls.blockwise.numpy_problem import aligned, aligned_copy
from attnspec.impls.blockwise.numpy_tiles import tile_size
from attnspec.impls.blockwise.threads import workers
from attnspec.impls.numpy_blockwise import SIZES, rows_a_block

LENGTHS = (1024, 2048, 4096)

HEADS, WIDTH = 8, 64

THEIRS = "torch_sdpa"

Array = NDArray[np.float32]


def inputs(length: int) -> tuple[Array, Array, Array]:
    """query, key and value (1, 8, n, 64), Gaussian."""
    rng = np.random.default_rng(0)
    query, key, value = (rng.standard_normal((1, HEADS, length, WIDTH), np.float32) for _ in range(3))
    return query, key, value


def floor(query: Array, key: Array, value: Array) -> None:
    """The products and exponentials alone, in the tiles of ``numpy_blockwise``: keys by strips of queries."""
    rows = rows_a_block(SIZES, HEADS * query.shape[2])
    strip, keys = tile_size(SIZES, rows, WIDTH)
    key, value = aligned_copy(key, np.float32), aligned_copy(value, np.float32)
    starts = [(head, start) for head in range(HEADS) for start in range(0, query.shape[2], rows)]

    def block(at: tuple[int, int]) -> None:
        head, start = at
        strips = query[0, head, start : start + rows].reshape(-1, strip, WIDTH)
        some = aligned_copy(strips.swapaxes(1, 2), np.float32)  # (N, D, W)
        buffer = aligned((len(some), keys, strip), np.float32)
        total = aligned((len(some), strip, WIDTH), np.float32)
        for first in range(0, key.shape[2], keys):
            scores = buffer[:, : key.shape[2] - first]
            np.matmul(key[0, head, first : first + keys], some, out=scores)
            np.exp2(scores, out=scores)
            np.matmul(scores.swapaxes(1, 2), value[0, head, first : first + keys], out=total)

    with workers(large=True) as run:
        list(run(block, starts))


def eager_floor(query: Any, key: Any, value: Any) -> None:
    """The same in the tiles of ``torch_blockwise``."""
    import torch

    from attnspec.impls.blockwise.torch import QUERIES, WIDE

    for rows in query.split(QUERIES, dim=2):
        for keys, values in zip(key.split(WIDE, dim=2), value.split(WIDE, dim=2), strict=True):
            torch.exp2_(rows @ keys.mT) @ values


def jax_floor() -> Callable[..., Any]:
    """The same in the tiles of ``jax_blockwise``, compiled; what it returns keeps the products from being left out."""
    import jax
    import jax.numpy as jnp

    from attnspec.impls.blockwise.jax import Plan, block, dot

    def one(plan: Plan, rows: Any, key: Any, value: Any) -> Any:
        def step(j: Any, total: Any) -> Any:
            keys, values = (block(array, 2, j * plan.columns, plan.columns) for array in (key, value))
            return total + dot("bkqs,bksd->bkqd", jnp.exp2(dot("bkqd,bksd->bkqs", rows, keys)), values)

        return jax.lax.fori_loop(0, key.shape[2] // plan.columns, step, jnp.zeros_like(rows))

    def every(query: Any, key: Any, value: Any) -> Any:
        plan = Plan(query.shape[2], key.shape[2], 0, 0, 0.0)
        blocks = jnp.stack(jnp.split(query, query.shape[2] // plan.rows, axis=2))
        return jax.lax.map(lambda rows: one(plan, rows, key, value), blocks)

    compiled: Callable[..., Any] = jax.jit(every)
    return compiled


def contenders(length: int) -> dict[str, Callable[[], object]]:
    """The floors, ours and theirs on the same numbers."""
    import jax
    import torch

    query, key, value = (array * np.float32(0.3) for array in inputs(length))
    tensors = [torch.from_numpy(array) for array in (query, key, value)]
    sdpa = torch.nn.functional.scaled_dot_product_attention
    arrays = [jax.numpy.asarray(array) for array in (query, key, value)]
    in_jax, ours_in_jax = jax_floor(), jax.jit(jax_blockwise.attention)
    return {
        "floor of NumPy": lambda: floor(query, key, value),
        "numpy_blockwise": lambda: numpy_blockwise.attention(query, key, value),
        "floor of eager PyTorch": lambda: eager_floor(*tensors),
        "torch_blockwise": lambda: torch_blockwise.attention(*tensors),
        "floor of JAX": lambda: in_jax(*arrays).block_until_ready(),
        "jax_blockwise": lambda: ours_in_jax(*arrays).block_until_ready(),
        THEIRS: lambda: sdpa(*tensors),
    }


def main() -> None:
    """Print the table."""
    print(f"{'median ÷ ' + THEIRS:23}" + "".join(f"{n:>8}" for n in LENGTHS))
    seconds = []
    for length in LENGTHS:
        some = contenders(length)
        timed(some, rounds=2)
        seconds.append({name: median(own) for name, own in timed(some, rounds=15).items()})
    for name in seconds[0]:
        print(f"{name:23}" + "".join(f"{found[name] / found[THEIRS]:8.2f}" for found in seconds))


if __name__ == "__main__":
    main()
