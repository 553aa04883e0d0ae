"""Training with PyTorch: its autograd through our layers, and its optimiser."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnspec.impls.arrays.torch import threads
from attnspec.impls.layers import Draw, Transformer
from attnspec.learning.task import BEGIN, END, PADDING, Batch, Ids


class Training:
    """A model in training; the same seed gives the same weights before and the same batches."""

    def __init__(self, model: Transformer, rate: float, steps: int, seed: int) -> None:
        self.model = model
        drawn = model.init(Draw(torch.zeros(()), "xavier", seed))
        self.parameters: dict[str, Any] = {name: x.requires_grad_() for name, x in drawn.items()}
        self.optimiser = torch.optim.Adam(self.parameters.values(), lr=rate)
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(self.optimiser, rate, total_steps=steps)

    def step(self, batch: Batch) -> float:
        """The loss of a batch before the step that it makes."""
        sources, targets = torch.from_numpy(batch.sources), torch.from_numpy(batch.targets)
        with threads(1):  # small tensors are slower on several
            loss = cross_entropy(self.model, self.parameters, sources, targets)
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
        self.schedule.step()
        return float(loss.detach())

    def translate(self, sources: Ids) -> Ids:
        """Greedy translations (B, longest + 2)."""
        with torch.no_grad(), threads(1):
            length = sources.shape[1] + 1
            ids = self.model.greedy(self.parameters, torch.from_numpy(sources), begin=BEGIN, end=END, length=length)
        return np.asarray(ids)


def cross_entropy(model: Transformer, parameters: Mapping[str, Any], sources: Any, targets: Any) -> Any:
    """The mean over the target's tokens, each predicted from those before it; padding does not count."""
    logits = model(parameters, sources, targets[:, :-1])
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets[:, 1:].reshape(-1), ignore_index=PADDING)
