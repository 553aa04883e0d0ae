"""A run of training: batches, losses, and how many translations of what was held out are right."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnspec.learning.model import model
from attnspec.learning.task import Batch, Task


@dataclass(frozen=True)
class Run:
    """What came of it: the loss at each step, and the share of held-out sequences translated without a mistake."""

    losses: list[float]
    accuracy: float
    examples: Batch
    translations: Any


def learn(
    arrays: str,
    task: Task,
    *,
    positions: bool = True,
    steps: int = 1500,
    size: int = 64,
    rate: float = 3e-3,
    seed: int = 0,
    held_out: int = 1000,
    progress: Callable[[int, float], None] = lambda step, loss: None,
) -> Run:
    """Train with the arrays of "torch" or "jax", and translate what was held out. The same seed gives the same run."""
    training = importlib.import_module(f"attnspec.learning.{arrays}_training").Training(
        model(positions), rate, steps, seed
    )
    rng, losses = np.random.default_rng(seed), []
    for step in range(steps):
        losses.append(training.step(task.batch(rng, size, held_out=False)))
        progress(step, losses[-1])
    examples = task.batch(rng, held_out, held_out=True)
    translations = training.translate(examples.sources)
    return Run(losses, accuracy(translations, examples), examples, translations)


def accuracy(translations: Any, examples: Batch) -> float:
    """The share of sequences that are right in every token."""
    return float((translations == examples.targets).all(1).mean())
