"""Training with JAX: its autograd through our layers, compiled, and an optimiser of Optax."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from attnspec.impls.layers import Draw, Transformer
from attnspec.learning.task import BEGIN, END, PADDING, Batch, Ids


class Training:
    """A model in training; the same seed gives the same weights before and the same batches."""

    def __init__(self, model: Transformer, rate: float, steps: int, seed: int) -> None:
        self.model = model
        self.parameters: dict[str, Any] = model.init(Draw(jnp.zeros((), jnp.float32), "xavier", seed))
        self.optimiser = optax.adam(optax.cosine_onecycle_schedule(steps, rate))
        self.state = self.optimiser.init(self.parameters)
        self._step = jax.jit(self._stepped)

    def step(self, batch: Batch) -> float:
        """The loss of a batch before the step that it makes."""
        self.parameters, self.state, loss = self._step(self.parameters, self.state, batch.sources, batch.targets)
        return float(loss)

    def _stepped(self, parameters: Any, state: Any, sources: Any, targets: Any) -> tuple[Any, Any, Any]:
        loss, slopes = jax.value_and_grad(partial(cross_entropy, self.model))(parameters, sources, targets)
        changes, state = self.optimiser.update(slopes, state)
        return optax.apply_updates(parameters, changes), state, loss

    def translate(self, sources: Ids) -> Ids:
        """Greedy translations (B, longest + 2)."""
        greedy = partial(self.model.greedy, begin=BEGIN, end=END, length=sources.shape[1] + 1)
        return np.asarray(jax.jit(greedy)(self.parameters, sources))


def cross_entropy(model: Transformer, parameters: Mapping[str, Any], sources: Any, targets: Any) -> Any:
    """The mean over the target's tokens, each predicted from those before it; padding does not count."""
    logits = model(parameters, jnp.asarray(sources), jnp.asarray(targets)[:, :-1])
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, targets[:, 1:])
    real = targets[:, 1:] != PADDING
    return (losses * real).sum() / real.sum()
