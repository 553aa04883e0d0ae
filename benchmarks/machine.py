"""What this machine can do at most: a product of square matrices, and a copy of memory, timed in a process of its own.

Its times are taken between those of the backends, in the same run, and the best of all counts.
"""

import importlib.util
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TextIO

import numpy as np

from attnspec import worker
from attnspec.child import Child
from attnspec.specs.problem import Array, numpy_dtype

WIDTHS, TIMES = (1024, 2048), 2
"""Widths of the matrices; calls of each."""

COPIED = 2**28
"""Bytes, well beyond most caches."""

WORKER, PATIENCE = "attnspec.benchmarks.machine", 120.0


@dataclass
class Machine:
    """The most that was seen in this run: GFLOP/s of a matrix product by dtype, and GB/s read and written."""

    gflops: dict[str, float] = field(default_factory=dict)
    bandwidth: float = 0.0

    def measure(self, dtype: str) -> None:
        """Look once more. Nothing is known of a dtype that neither NumPy nor PyTorch multiplies fast."""
        with Child(_Request(dtype), [], {}, worker=WORKER) as child:
            match child.event(PATIENCE):
                case {"event": "machine", "gflops": float(gflops), "bandwidth": float(bandwidth)}:
                    self.bandwidth = max(self.bandwidth, bandwidth)
                    if gflops:
                        self.gflops[dtype] = max(self.gflops.get(dtype, 0.0), gflops)


@dataclass(frozen=True)
class _Request:
    dtype: str


def serve(request: dict[str, Any], events: TextIO) -> None:
    """Send one event with both."""
    worker.send(events, event="machine", gflops=gflops(request["dtype"]), bandwidth=bandwidth())


def gflops(dtype: str) -> float:
    """Of the fastest product of NumPy or PyTorch; 0.0 if there is none in that dtype."""
    found = [0.0]
    for width in WIDTHS:
        square = np.random.default_rng(0).standard_normal((width, width), np.float32).astype(numpy_dtype(dtype))
        found += [2e-9 * width**3 / _best(product) for product in _products(square)]
    return max(found)


def _products(square: Array) -> list[Callable[[], Any]]:
    products: list[Callable[[], Any]] = []
    if square.itemsize >= 4:  # NumPy has no fast product of half precision
        products.append(lambda: square @ square)
    if importlib.util.find_spec("torch"):
        from attnspec.impls.arrays.torch import asarray

        tensor = asarray(square, "cpu")
        products.append(lambda: tensor @ tensor)
    return products


def bandwidth() -> float:
    """GB/s of a copy by as many threads as there are cores, each byte counted once read and once written."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    source = np.ones((cores, COPIED // cores), np.uint8)
    target = np.zeros_like(source)
    with ThreadPoolExecutor(cores) as pool:
        seconds = _best(lambda: list(pool.map(np.copyto, target, source)))
    return 2e-9 * source.nbytes / seconds


def _best(call: Callable[[], object]) -> float:
    """The least seconds of a call."""
    call()
    seconds = []
    for _ in range(TIMES):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    worker.main(serve)
