"""The rounding error of one PyTorch operation, in units of roundoff, given its operands.

Each rule bounds |computed − exact| ÷ u for any sensible way to compute the operation from operands taken as exact:
in any order of summation, with the scale of attention's scores on either factor. Higham, *Accuracy and Stability of
Numerical Algorithms*, 2nd ed., ch. 3: a sum of n products is off by at most γ_n·Σ|products|, and γ_n ≤ 1.01·n·u where
n·u ≤ 0.01, as it is here.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

ELEMENTARY = 8
"""Units to which exp, erf and tanh are computed: the worst that libraries document is 5 (4 in NumPy and Sleef)."""

SPARE = 4
"""Roundings beside those of a sum: of its scale, of a factor's product with it, of storing it."""

Rule = Callable[..., Any]


def gamma(terms: int) -> float:
    """γ_n ÷ u."""
    return 1.01 * (terms + SPARE)


def linear(result: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    """y = x·Wᵀ + b."""
    size = x.abs() @ weight.abs().mT
    return gamma(weight.shape[-1] + 1) * (size if bias is None else size + bias.abs())


def matmul(result: Any, a: Any, b: Any) -> Any:
    """Sums of a.shape[-1] products."""
    return gamma(a.shape[-1]) * (a.abs() @ b.abs())


def rounded(result: Any, *_: Any, **__: Any) -> Any:
    """One operation that is rounded correctly: sum, difference, product, quotient."""
    return result.abs()


def exact(result: Any, *_: Any, **__: Any) -> Any:
    """Moves numbers, or picks among them."""
    return torch.zeros_like(result)


def softmax(result: Any, scores: Any, *_: Any, **__: Any) -> Any:
    """exp(s − max) ÷ Σ exp(s − max): the difference is rounded in the numerator and in the denominator."""
    below = (scores - scores.amax(-1, keepdim=True)).abs().where(result > 0, 0)
    shifted = below + (result * below).sum(-1, keepdim=True)
    return result * (2 * shifted + gamma(scores.shape[-1] + 2 * ELEMENTARY))


def layer_norm(result: Any, x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """(x − μ) ÷ √(σ² + ε) · g + b, with the mean and then the variance computed as means."""
    terms = x.shape[-1]
    centred = x - x.mean(-1, keepdim=True)
    spread = (centred.square().mean(-1, keepdim=True) + eps).sqrt()
    off = gamma(terms) * x.abs().mean(-1, keepdim=True) + centred.abs()
    of_spread = off.square().mean(-1, keepdim=True).sqrt() / spread + gamma(terms + 2 * ELEMENTARY)
    normal = off / spread + centred.abs() / spread * of_spread
    return normal * (1 if weight is None else weight.abs()) + 3 * (result.abs() + (0 if bias is None else bias.abs()))


def activation(result: Any, x: Any, *_: Any, **__: Any) -> Any:
    """GELU in either form: x times a factor between 0 and 1 that is off by a few units of 1 (Hendrycks & Gimpel)."""
    return ELEMENTARY * x.abs()


def elementary(result: Any, *_: Any, **__: Any) -> Any:
    """tanh, with the rounding of its argument, whose effect |x|·(1 − tanh²x) is below |tanh x|."""
    return ELEMENTARY * result.abs()


def power(result: Any, x: Any, exponent: float) -> Any:
    """xⁿ as a product, or by pow."""
    return max(exponent, ELEMENTARY) * result.abs()


def total(result: Any, x: Any, *axes: Any, **options: Any) -> Any:
    """The sum over some axes."""
    terms = x.numel() // max(result.numel(), 1)
    return gamma(terms) * torch.sum(x.abs(), *axes, **options)


RULES: dict[Any, Rule] = {
    torch.Tensor.sum: total,
    torch.sqrt: lambda result, _: result.abs(),
    torch.pow: power,
    F.linear: linear,
    torch.matmul: matmul,
    torch.bmm: matmul,
    torch.Tensor.matmul: matmul,
    torch.Tensor.__matmul__: matmul,
    torch.baddbmm: lambda result, added, a, b, **_: added.abs().where(added > -1e30, 0) + matmul(result, a, b),
    F.softmax: softmax,
    F.layer_norm: layer_norm,
    F.gelu: activation,
    torch.tanh: elementary,
}
"""What is not here and not in ``ROUNDED`` or ``EXACT`` stops the analysis: nothing is taken for exact silently."""

ROUNDED = frozenset(
    {"add", "__add__", "__radd__", "__mul__", "__rmul__", "mul", "__truediv__", "div", "sub", "__sub__"}
)
MOVES = {"__getitem__", "view", "reshape", "transpose", "permute", "contiguous", "unsqueeze", "squeeze", "expand"}
MOVES |= {"flatten", "unflatten", "select", "split", "cat", "pad", "to", "clone"}
EXACT = frozenset(MOVES | {"dropout", "embedding", "relu", "masked_fill", "where", "zeros_like"})
