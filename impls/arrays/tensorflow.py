"""TensorFlow for the suite, on the CPU.

``compile`` is tf.function without XLA: a graph for each shape, of the operations that a call runs (no AutoGraph).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

Function = Callable[..., Any]

tf.config.set_visible_devices([], "GPU")

TRANSFORMS = frozenset({"gradient", "double_gradient", "forward_gradient", "compile", "vectorize"})
RUNS_COMPILED = False
FLUSHES_SUBNORMALS = True  # 1e-38 * 0.1 is 0 in float32, 1e-308 * 0.1 is 0 in float64


def version() -> str:
    return str(tf.__version__)


def devices() -> tuple[str, ...]:
    return ("cpu",)


def asarray(array: NDArray[Any], device: str) -> Any:
    """A fresh tensor. ValueError for a device other than "cpu"."""
    if device != "cpu":
        raise ValueError(f"tensorflow: wanted device 'cpu', came {device!r}")
    return tf.constant(np.array(array, order="C"))


def to_numpy(array: Any) -> NDArray[Any]:
    """A copy: what ``numpy()`` gives may be the tensor's own memory."""
    return np.array(array.numpy())


def is_array(value: object) -> bool:
    return isinstance(value, tf.Tensor)


def synchronize(value: Any) -> None:
    """Nothing to wait for: on the CPU an operation returns when it is done."""


def gradient(
    function: Function, inputs: Sequence[Any], cotangent: Any, constants: Sequence[Any] = ()
) -> tuple[Any, tuple[Any, ...]]:
    """The output and the vector-Jacobian product per input."""
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(inputs)
        output = function(*inputs, *constants)
    return output, _gradients(tape, output, inputs, cotangent)


def _gradients(tape: Any, output: Any, inputs: Sequence[Any], cotangent: Any = None) -> tuple[Any, ...]:
    """Zeros where the output does not depend on an input; dense where TensorFlow has only the slices that were read."""
    found = tape.gradient(output, list(inputs), cotangent, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return tuple(map(tf.convert_to_tensor, found))


def double_gradient(
    function: Function,
    inputs: Sequence[Any],
    cotangent: Any,
    directions: Sequence[Any],
    constants: Sequence[Any] = (),
) -> tuple[Any, ...]:
    """The gradient, per input, of Σ ⟨gradient, direction⟩."""
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(inputs)
        first = gradient(function, inputs, cotangent, constants)[1]
        total = tf.add_n([tf.reduce_sum(g * d) for g, d in zip(first, directions, strict=True)])
    return _gradients(tape, total, inputs)


def forward_gradient(
    function: Function, inputs: Sequence[Any], directions: Sequence[Any], constants: Sequence[Any] = ()
) -> Any:
    """The derivative along the directions."""
    with tf.autodiff.ForwardAccumulator(list(inputs), list(directions)) as accumulator:
        output = function(*inputs, *constants)
    return accumulator.jvp(output, unconnected_gradients=tf.UnconnectedGradients.ZERO)


def compile(function: Function) -> Function:
    compiled: Function = tf.function(function, autograph=False)
    return compiled


def vectorize(function: Function) -> Function:
    """Mapped; an operation that TensorFlow cannot map is run one slice at a time."""

    def call(*arrays: Any) -> Any:
        return tf.vectorized_map(lambda slices: function(*slices), arrays)

    return call
