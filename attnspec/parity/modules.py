"""PyTorch's modules with random weights, and what they compute."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from attnspec.parity.case import Case, Numbers, single
from attnspec.parity.condition import rounding_errors


def randomised(module: Any, seed: int = 0) -> Any:
    """The module in float64 for evaluation, its weights drawn so that signals keep their size and biases matter.

    Matrices have the variance 1/fan_in: LeCun et al., *Efficient BackProp*, 1998, equation 16.
    """
    rng = np.random.default_rng(seed)
    module = module.double().eval()
    for name, parameter in sorted(module.named_parameters()):
        std = 1 / math.sqrt(parameter.shape[-1]) if parameter.ndim > 1 else 0.25
        centre = 1.0 if parameter.ndim == 1 and name.endswith("weight") else 0.0
        parameter.data = torch.from_numpy(single(rng, parameter.shape, std) + centre).float().double()
    return module


def weights(module: Any) -> dict[str, Numbers]:
    """The state dict in NumPy."""
    return {name: tensor.numpy() for name, tensor in module.state_dict().items()}


def case_of(
    compute: Callable[[], Sequence[Any]], ours: Callable[[Any], Sequence[Any]], expected: Sequence[Numbers] = ()
) -> Case:
    """The case of what ``compute`` gives with PyTorch; of ``expected``, if others computed the same."""
    outputs = [output.detach().numpy() for output in compute()]
    errors = [error.numpy() for error in rounding_errors(compute)]
    return Case(expected or outputs, errors, ours)


def tensors(arrays: Mapping[str, Numbers]) -> dict[str, Any]:
    """The same as PyTorch's tensors."""
    return {name: torch.from_numpy(array) for name, array in arrays.items()}
