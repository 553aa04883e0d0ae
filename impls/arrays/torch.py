"""PyTorch for the suite.

``compile`` goes through Dynamo and AOTAutograd with the "aot_eager" backend: it traces, decomposes and rewrites what
torch.compile rewrites, in fractions of a second. Inductor would also need a C++ compiler and tens of seconds a shape.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Function = Callable[..., Any]

TRANSFORMS = frozenset({"gradient", "double_gradient", "forward_gradient", "compile", "vectorize", "views", "threads"})
RUNS_COMPILED = False
FLUSHES_SUBNORMALS = False

_ACCELERATORS = {"cuda": torch.cuda, "mps": torch.backends.mps}


def version() -> str:
    return str(torch.__version__)


def devices() -> tuple[str, ...]:
    return ("cpu", *(name for name, module in _ACCELERATORS.items() if module.is_available()))


def asarray(array: NDArray[Any], device: str) -> Any:
    """A fresh contiguous tensor; bfloat16 goes over as its bits."""
    copy = np.array(array, order="C")
    if copy.dtype.name == "bfloat16":
        return torch.from_numpy(copy.view(np.int16)).view(torch.bfloat16).to(device)
    return torch.from_numpy(copy).to(device)


def to_numpy(array: Any) -> NDArray[Any]:
    """A copy, so that a later write to the tensor cannot reach it."""
    plain = array.detach().resolve_conj().resolve_neg().cpu().contiguous()
    if plain.dtype == torch.bfloat16:
        from ml_dtypes import bfloat16  # which nothing else here needs

        return np.array(plain.view(torch.int16).numpy()).view(bfloat16)
    return np.array(plain.numpy())


def is_array(value: object) -> bool:
    return isinstance(value, torch.Tensor)


def synchronize(value: Any) -> None:
    for array in value if isinstance(value, tuple | list) else (value,):
        if is_array(array) and array.device.type != "cpu":
            torch.accelerator.synchronize(array.device)


def gradient(
    function: Function, inputs: Sequence[Any], cotangent: Any, constants: Sequence[Any] = ()
) -> tuple[Any, tuple[Any, ...]]:
    """The output and the vector-Jacobian product per input, 0 for an input that the output does not depend on."""
    leaves = [array.detach().requires_grad_() for array in inputs]
    output = function(*leaves, *constants)
    if not output.requires_grad:
        return output, tuple(torch.zeros_like(leaf) for leaf in leaves)
    return output, torch.autograd.grad(output, leaves, cotangent, allow_unused=True, materialize_grads=True)


def double_gradient(
    function: Function,
    inputs: Sequence[Any],
    cotangent: Any,
    directions: Sequence[Any],
    constants: Sequence[Any] = (),
) -> tuple[Any, ...]:
    """The gradient, per input, of Σ ⟨gradient, direction⟩; 0 where the gradients are no function of the input."""
    leaves = [array.detach().requires_grad_() for array in inputs]
    output = function(*leaves, *constants)
    first = torch.autograd.grad(output, leaves, cotangent, create_graph=True, allow_unused=True, materialize_grads=True)
    total: Any = sum((gradient * direction).sum() for gradient, direction in zip(first, directions, strict=True))
    if not total.requires_grad:
        return tuple(torch.zeros_like(leaf) for leaf in leaves)
    return tuple(torch.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True))


def forward_gradient(
    function: Function, inputs: Sequence[Any], directions: Sequence[Any], constants: Sequence[Any] = ()
) -> Any:
    """The derivative along the directions; what PyTorch deprecates in itself on the way is left out."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        return torch.func.jvp(lambda *primals: function(*primals, *constants), tuple(inputs), tuple(directions))[1]


def compile(function: Function) -> Function:
    """One graph for each shape: a graph break or a silent return to eager is an error.

    Dynamo gives up after 8 shapes of one function by default; here each shape is meant to compile. That Dynamo itself
    instantiates an autograd.Function, which PyTorch warns of, is left out.
    """
    compiled = torch.compile(function, backend="aot_eager", dynamic=False, fullgraph=True)
    limits = {"recompile_limit": 1 << 20, "accumulated_recompile_limit": 1 << 20}

    def call(*arrays: Any) -> Any:
        with torch._dynamo.config.patch(limits), warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*should not be instantiated", DeprecationWarning)
            return compiled(*arrays)

    return call


def vectorize(function: Function) -> Function:
    """Mapped; PyTorch's warning that an operation is mapped one slice at a time is left out."""
    mapped: Function = torch.func.vmap(function)

    def call(*arrays: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "There is a performance drop", UserWarning)
            return mapped(*arrays)

    return call


def views(array: NDArray[Any], device: str) -> dict[str, Any]:
    """Fresh tensors equal to ``array`` in other layouts; those that its rank or values do not allow are left out.

    NaN lies between the elements of the strided ones: whoever reads past a stride finds it in the result.
    """
    plain = asarray(array, device)
    found = {}
    if plain.ndim:
        found["strided"] = _poisoned(plain, 2 * plain.shape[-1])[..., 1::2].copy_(plain)
        found["padded"] = _poisoned(plain, plain.shape[-1] + 3)[..., : plain.shape[-1]].copy_(plain)
    if plain.ndim >= 2:
        found["transposed"] = plain.swapaxes(-1, -2).contiguous().swapaxes(-1, -2)
    if plain.ndim >= 3:
        found["heads last"] = plain.swapaxes(-2, -3).contiguous().swapaxes(-2, -3)
    for axis in range(plain.ndim):
        if plain.shape[axis] > 1:
            spread = plain.narrow(axis, 0, 1).clone().expand(plain.shape)
            if torch.allclose(spread, plain, rtol=0, atol=0, equal_nan=True):
                found["expanded"] = spread
    return found


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Inside, operations are spread over so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _poisoned(like: Any, width: int) -> Any:
    """A buffer like ``like`` but ``width`` wide, full of what must not be read."""
    poison = float("nan") if like.is_floating_point() else 1
    return torch.full((*like.shape[:-1], width), poison, dtype=like.dtype, device=like.device)


def peak_memory(function: Function, arguments: Sequence[Any]) -> int:
    """The bytes of the most that one operation has allocated, as PyTorch's profiler says."""
    with torch.profiler.profile(profile_memory=True, activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        function(*arguments)
    return max((event.self_cpu_memory_usage for event in profile.events()), default=0)
