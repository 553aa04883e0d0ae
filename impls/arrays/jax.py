"""JAX for the suite, with 64-bit types on.

Ordinary calls go through ``compile``: op by op, a fresh shape costs about 470 ms of attention, jitted 115 ms.
XLA compiles once for each function object and shape: hand over the same function, not a fresh lambda.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

Function = Callable[..., Any]

jax.config.update("jax_enable_x64", True)

TRANSFORMS = frozenset({"gradient", "double_gradient", "forward_gradient", "compile", "vectorize"})
RUNS_COMPILED = True
FLUSHES_SUBNORMALS = True  # XLA on CPU: 1e-40 * 0.5 is 0 in float32, 1e-308 * 0.5 is 0 in float64

_PLATFORM = {"gpu": "cuda", "metal": "mps"}
"""JAX's name of a platform to ours, where they differ; ``jax.devices`` takes "cuda" as well."""


def version() -> str:
    return str(jax.__version__)


def devices() -> tuple[str, ...]:
    """The CPU first, then what accelerator JAX found."""
    platform = jax.default_backend().lower()
    return ("cpu",) if platform == "cpu" else ("cpu", _PLATFORM.get(platform, platform))


def asarray(array: NDArray[Any], device: str) -> Any:
    """A fresh array; copied first, for on the CPU JAX would share NumPy's memory."""
    return jax.device_put(np.array(array, order="C"), jax.devices("METAL" if device == "mps" else device)[0])


def to_numpy(array: Any) -> NDArray[Any]:
    return np.array(array)


def is_array(value: object) -> bool:
    return isinstance(value, jax.Array)


def synchronize(value: Any) -> None:
    jax.block_until_ready(value)


def gradient(
    function: Function, inputs: Sequence[Any], cotangent: Any, constants: Sequence[Any] = ()
) -> tuple[Any, tuple[Any, ...]]:
    """The output and the vector-Jacobian product per input, compiled."""
    output, gradients = _pullback(function, tuple(inputs), cotangent, tuple(constants))
    return output, gradients


@functools.partial(jax.jit, static_argnums=0)
def _pullback(
    function: Function, inputs: tuple[Any, ...], cotangent: Any, constants: tuple[Any, ...]
) -> tuple[Any, tuple[Any, ...]]:
    output, pullback = jax.vjp(lambda *primals: function(*primals, *constants), *inputs)
    return output, tuple(pullback(cotangent))


def double_gradient(
    function: Function,
    inputs: Sequence[Any],
    cotangent: Any,
    directions: Sequence[Any],
    constants: Sequence[Any] = (),
) -> tuple[Any, ...]:
    """The gradient, per input, of Σ ⟨gradient, direction⟩, compiled."""
    return tuple(_second(function, tuple(inputs), cotangent, tuple(directions), tuple(constants)))


@functools.partial(jax.jit, static_argnums=0)
def _second(
    function: Function,
    inputs: tuple[Any, ...],
    cotangent: Any,
    directions: tuple[Any, ...],
    constants: tuple[Any, ...],
) -> Any:
    def total(primals: tuple[Any, ...]) -> Any:
        gradients = jax.vjp(lambda *some: function(*some, *constants), *primals)[1](cotangent)
        return sum((g * d).sum() for g, d in zip(gradients, directions, strict=True))

    return jax.grad(total)(inputs)


def forward_gradient(
    function: Function, inputs: Sequence[Any], directions: Sequence[Any], constants: Sequence[Any] = ()
) -> Any:
    """The derivative along the directions, compiled."""
    return _forward(function, tuple(inputs), tuple(directions), tuple(constants))


@functools.partial(jax.jit, static_argnums=0)
def _forward(
    function: Function, inputs: tuple[Any, ...], directions: tuple[Any, ...], constants: tuple[Any, ...]
) -> Any:
    return jax.jvp(lambda *primals: function(*primals, *constants), inputs, directions)[1]


def compile(function: Function) -> Function:
    compiled: Function = jax.jit(function)
    return compiled


def on_compile(tell: Callable[[float], None]) -> None:
    """Tell the seconds of each lowering and compilation; tracing is not in them."""
    kinds = ("/jax/core/compile/jaxpr_to_mlir_module_duration", "/jax/core/compile/backend_compile_duration")

    def listen(event: str, seconds: float, **_: Any) -> None:
        if event in kinds:
            tell(seconds)

    jax.monitoring.register_event_duration_secs_listener(listen)


@functools.lru_cache(maxsize=256)
def vectorize(function: Function) -> Function:
    """Mapped and compiled; cached, for a second ``jax.vmap`` of one function would compile again."""
    mapped: Function = jax.jit(jax.vmap(function))
    return mapped


def views(array: NDArray[Any], device: str) -> dict[str, Any]:
    """None: a JAX array has no strides to choose."""
    return {}


def peak_memory(function: Function, arguments: Sequence[Any]) -> int:
    """The bytes that the compiled function takes beside its arguments, its result among them."""
    needs = jax.jit(function).lower(*arguments).compile().memory_analysis()
    return int(needs.temp_size_in_bytes + needs.output_size_in_bytes)
