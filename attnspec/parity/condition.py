"""How far rounding may move each number that a PyTorch model computes: a linearised error analysis, nothing tuned.

Every operation k of the reference is off by at most u·e_k (``rules.py``). To first order an output h_i then moves by at
most u·Σ_k |∂h_i/∂t_k|·e_k, where t_k is what operation k gives and the derivatives are automatic differentiation's:
Miller & Wrathall, *Software for Roundoff Analysis of Matrix Algorithms*, 1980; Higham, 2nd ed., section 26.4. This is
the bound of one computation, at any u; two that are both correct differ by at most twice as much. The terms left out
are of order u² times the square of the same sum.
"""

import math
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from attnspec.impls.arrays.torch import threads
from attnspec.parity.rules import EXACT, ROUNDED, RULES, exact, rounded


class Recorder(TorchFunctionMode):  # type: ignore[misc]
    """Keeps what each floating-point operation gives, and how far off that may be."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[tuple[Any, Any]] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function in PARTS:
            with self:  # its parts have rules, it has none
                return PARTS[function](*args, **kwargs)
        result = function(*args, **kwargs)
        if isinstance(result, tuple | list) and any(map(_may_be_off, result)) and _rule(function) is not exact:
            raise ValueError(f"condition: wanted one result for a rule in rules.py, came several of {function}")
        if _may_be_off(result):
            with torch.no_grad():
                error = _rule(function)(result, *args, **kwargs)
            if error.any():
                self.steps.append((result, error))
        return result


def _may_be_off(result: Any) -> bool:
    return isinstance(result, torch.Tensor) and result.is_floating_point() and result.requires_grad


def _rule(function: Any) -> Callable[..., Any]:
    name = getattr(function, "__name__", str(function))
    if function in RULES:
        return RULES[function]
    if name in ROUNDED:
        return rounded
    if name in EXACT:
        return exact
    raise ValueError(f"condition: wanted an operation that has a rule in rules.py, came {name}")


def _unguarded(function: Any) -> Callable[..., Any]:
    """The same function without its own look for a mode, which would lead back here for ever."""
    names = {**function.__globals__, "has_torch_function": lambda _: False}
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)


def _by_definition(query: Any, key: Any, value: Any, attn_mask: Any = None, *_: Any, **__: Any) -> Any:
    """What scaled_dot_product_attention computes, operation by operation. Vaswani et al. (2017), equation 1."""
    scores = torch.matmul(query, key.transpose(-1, -2)) * (1 / math.sqrt(query.shape[-1]))
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype == torch.bool else scores + attn_mask
    return torch.matmul(F.softmax(scores, dim=-1), value)


PARTS: dict[Any, Callable[..., Any]] = {
    F.multi_head_attention_forward: _unguarded(F.multi_head_attention_forward),
    F.scaled_dot_product_attention: _by_definition,
}


def rounding_errors(compute: Callable[[], Sequence[Any]]) -> list[Any]:
    """For each float64 tensor that ``compute`` gives, u⁻¹ times the bound of its error, elementwise.

    Parameters or inputs must require gradients. ValueError for an operation that no rule covers.
    """
    with threads(1):  # small tensors are slower on several
        with Recorder() as recorder:
            outputs = compute()
        return [_bound(output, recorder.steps) for output in outputs]


def _bound(output: Any, steps: list[tuple[Any, Any]]) -> Any:
    """Σ_k |∂output/∂t_k|·e_k, one batch of directions for all elements of the output."""
    directions = torch.eye(output.numel(), dtype=output.dtype).reshape(-1, *output.shape)
    results = [result for result, _ in steps]
    slopes = torch.autograd.grad(
        output, results, directions, retain_graph=True, is_grads_batched=True, allow_unused=True
    )
    total = torch.zeros(output.numel(), dtype=output.dtype)
    for slope, (_, error) in zip(slopes, steps, strict=True):
        if slope is not None:
            total += torch.where(slope == 0, 0, slope.abs() * error).flatten(1).sum(1)
    return total.reshape(output.shape)
