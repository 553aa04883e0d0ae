"""What is timed: problems by name, of the sizes that models have."""

from collections.abc import Callable

import numpy as np

from attnspec.specs.problem import Problem

Workload = Callable[[np.random.RandomState], Problem]


def self_attention(heads: int, length: int, width: int, **options: bool) -> Workload:
    """(1, heads, length, width) in float32, queries, keys and values Gaussian."""

    def make(rng: np.random.RandomState) -> Problem:
        shape = (1, heads, length, width)
        query, key, value = (rng.standard_normal(shape).astype(np.float32) for _ in range(3))
        return Problem(query, key, value, options)

    return make


WORKLOADS: dict[str, Workload] = {
    "prefill 256": self_attention(8, 256, 64),
    "prefill 1024": self_attention(8, 1024, 64),
    "prefill 1024 causal": self_attention(8, 1024, 64, is_causal=True),
    "prefill 4096": self_attention(8, 4096, 64),
}
