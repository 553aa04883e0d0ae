"""Fresh inputs for every call: numbers that no call has seen before, at the cost of a copy."""

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import RandomState

from attnspec.benchmarks.workloads import Workload
from attnspec.specs.problem import Array, Problem, generator, numpy_dtype

STEP, KINDS = 1009, 2**18
"""Each set begins so many numbers further on in a pool of Gaussian ones, and behind so many again at its front: as STEP
is odd, so many sets pass before one comes twice."""

SAMPLED = 8
"""Rows of the output that are looked at."""


class Inputs:
    """The inputs of a workload by number, equal in every process."""

    def __init__(self, workload: Workload, seed: int = 0) -> None:
        self.workload = workload
        heads = (workload.heads, workload.kv_heads, workload.kv_heads)
        tokens = (workload.queries, workload.keys, workload.keys)
        self.shapes = [(workload.batch, h, n, workload.width) for h, n in zip(heads, tokens, strict=True)]
        size = sum(map(np.prod, self.shapes)) + KINDS
        pool = np.random.default_rng(seed).standard_normal(int(size), np.float32)
        self.pool = pool.astype(numpy_dtype(workload.dtype))

    @property
    def bytes(self) -> int:
        """Of query, key, value and the output, which is as large as the query; twice that with their gradients."""
        size = self.pool.itemsize * int(sum(map(np.prod, (*self.shapes, self.shapes[0]))))
        return size * (2 if self.workload.backward else 1)

    def problem(self, number: int) -> Problem:
        """Query, key and value of that number under the workload's options, packed sequences told by segments."""
        ends = np.cumsum([STEP * number % KINDS, *map(np.prod, self.shapes)])
        query, key, value = (
            self.pool[start:end].reshape(shape) for (start, end), shape in zip(pairwise(ends), self.shapes, strict=True)
        )
        return Problem(query, key, value, self.options)

    @cached_property
    def options(self) -> dict[str, Any]:
        """The canonical keywords, the same for all numbers."""
        w = self.workload
        options: dict[str, Any] = {"is_causal": True} if w.is_causal else {}
        if w.window is not None:
            options["window"] = w.window
        if w.masked:
            mask = RandomState(0).random_sample((w.queries, w.keys)) < 0.5
            np.fill_diagonal(mask, True)
            options["mask"] = mask[None, None]
        if w.lengths:
            options |= dict.fromkeys(("query_segments", "key_segments"), self.segments[None])
        return options

    @property
    def segments(self) -> Array:
        """(tokens,): which sequence each token is of."""
        return np.repeat(np.arange(len(self.workload.lengths)), self.workload.lengths)

    def rows(self, number: int) -> Array:
        """Some queries, the first and the last among them."""
        some = generator(number, 0xB0).randint(self.workload.queries, size=SAMPLED)
        return np.unique([0, *some, self.workload.queries - 1])

    def cotangent(self, number: int) -> Array:
        """What comes back into the output: 0 but for the sampled rows, whose part in each gradient can be solved."""
        rows, (batch, heads, _, width) = self.rows(number), self.shapes[0]
        cotangent = np.zeros(self.shapes[0], np.float32)
        cotangent[:, :, rows] = generator(number, 0xBA).standard_normal((batch, heads, len(rows), width))
        return cotangent.astype(numpy_dtype(self.workload.dtype))
