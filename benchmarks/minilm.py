"""MiniLM over 32 sentences of 64 tokens in float32: ours with each array library beside transformers with SDPA.

``python -m attnspec.benchmarks.minilm`` prints the least and the median time of each, and the ratios. The contenders
take turns, so that whatever else the machine does falls on all of them alike.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from attnspec.impls.models import minilm
from attnspec.impls.models.spread import spread

SENTENCES, TOKENS, ROUNDS = 32, 64, 9

THEIRS = "transformers"

LIMITS = {"torch": 1.2, "numpy": 2.5, "jax": 1.5}
"""The most that ours may take, in medians of transformers."""

Contender = Callable[[], Any]


def inputs() -> tuple[Any, Any]:
    """Token ids (32, 64), and a mask (32, 64) without padding."""
    ids = np.random.default_rng(0).integers(1000, 30000, (SENTENCES, TOKENS))
    return ids, np.ones(ids.shape, bool)


def contenders() -> dict[str, Contender]:
    """Each gives the last states (32, 64, 384), once computed."""
    return {THEIRS: theirs(), "torch": with_torch(), "numpy": with_numpy(), "jax": with_jax()}


def theirs() -> Contender:
    """BertModel of the transformers package."""
    import torch
    import transformers

    model = transformers.BertModel.from_pretrained(minilm.folder(), attn_implementation="sdpa").eval()
    ids, mask = (torch.from_numpy(array) for array in inputs())
    return torch.no_grad()(lambda: model(ids, attention_mask=mask.long()).last_hidden_state)  # type: ignore[no-any-return]


def with_torch() -> Contender:
    """Ours, uncompiled as theirs is."""
    import torch

    weights = minilm.parameters("torch")
    ids, mask = (minilm.native(array, "torch") for array in inputs())
    return torch.no_grad()(lambda: minilm.MODEL(weights, ids, mask=mask))  # type: ignore[no-any-return]


def with_numpy() -> Contender:
    """Ours, in pieces over threads."""
    weights, (ids, mask) = minilm.parameters("numpy"), inputs()
    return lambda: spread(minilm.MODEL, weights, ids, mask=mask)


def with_jax() -> Contender:
    """Ours, compiled."""
    import jax

    weights = minilm.parameters("jax")
    ids, mask = (minilm.native(array, "jax") for array in inputs())
    compiled = jax.jit(lambda weights, ids, mask: minilm.MODEL(weights, ids, mask=mask))
    return lambda: jax.block_until_ready(compiled(weights, ids, mask))


def timed(some: dict[str, Contender], rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Seconds of each, one round after the other."""
    seconds: dict[str, list[float]] = {name: [] for name in some}
    for _ in range(rounds):
        for name, compute in some.items():
            start = time.perf_counter()
            compute()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def ratios(seconds: dict[str, list[float]], statistic: Callable[[list[float]], float]) -> dict[str, float]:
    """How many times as long as theirs."""
    return {name: statistic(own) / statistic(seconds[THEIRS]) for name, own in seconds.items()}


def main() -> None:
    """Print the table."""
    some = contenders()
    timed(some, rounds=1)  # compiles, and warms up
    seconds = timed(some)
    least, middle = ratios(seconds, min), ratios(seconds, median)
    print(f"{'':14}{'least ms':>10}{'median ms':>11}{'ratio':>8}{'median':>8}")
    for name, own in seconds.items():
        print(f"{name:14}{1e3 * min(own):10.0f}{1e3 * median(own):11.0f}{least[name]:8.2f}{middle[name]:8.2f}")


if __name__ == "__main__":
    main()
