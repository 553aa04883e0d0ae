"""Multi-head attention of Flax and Keras, and our layer with the same weights.

Both are asked for the weights too: without, they leave the scores to a function that computes float64 in float32.
What rounding may move is a property of the formula: it is computed with PyTorch's module of the same weights.
"""

import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from attnspec.impls.layers import MultiHead
from attnspec.impls.models.torch_nn import to_torch_nn
from attnspec.parity.case import Case, Convert, Numbers, converted, single
from attnspec.parity.modules import case_of, tensors
from attnspec.parity.torch_modules import HEADS, SEEN, WIDTH, X

LAYER = MultiHead(WIDTH, HEADS)
EACH = WIDTH // HEADS


def flax() -> Case:
    """flax.nnx.MultiHeadAttention: kernels (width, heads, each) and (heads, each, width), a mask of what is seen."""
    import jax
    from flax import nnx

    jax.config.update("jax_enable_x64", True)
    module = nnx.MultiHeadAttention(HEADS, WIDTH, decode=False, rngs=nnx.Rngs(0), param_dtype=np.float64)
    parameters = drawn()
    for name, part in {"query": module.query, "key": module.key, "value": module.value}.items():
        part.kernel[...] = parameters[f"{name}.weight"].T.reshape(WIDTH, HEADS, EACH)
        part.bias[...] = parameters[f"{name}.bias"].reshape(HEADS, EACH)
    module.out.kernel[...] = parameters["output.weight"].T.reshape(HEADS, EACH, WIDTH)
    module.out.bias[...] = parameters["output.bias"]
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", category=DeprecationWarning
        )  # of keeping the weights, which nobody reads here
        return case(parameters, np.asarray(module(X, mask=SEEN[:, None, None, :], sow_weights=True)))


def keras() -> Case:
    """keras.layers.MultiHeadAttention: the same shapes, and a mask (B, 1, n) of what is seen."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    from keras import layers

    module = layers.MultiHeadAttention(HEADS, EACH, dtype="float64")
    module.build(X.shape, X.shape)
    parameters = drawn()
    given: list[Numbers] = []
    for name in ("query", "key", "value"):
        given += [parameters[f"{name}.weight"].T.reshape(WIDTH, HEADS, EACH)]
        given += [parameters[f"{name}.bias"].reshape(HEADS, EACH)]
    given += [parameters["output.weight"].T.reshape(HEADS, EACH, WIDTH), parameters["output.bias"]]
    module.set_weights(given)
    output, _ = module(X, X, attention_mask=SEEN[:, None, :], return_attention_scores=True)
    return case(parameters, np.asarray(output.detach().cpu() if hasattr(output, "detach") else output))


def drawn() -> dict[str, Numbers]:
    """Random parameters of ``LAYER``."""
    rng = np.random.default_rng(3)
    return {name: single(rng, shape, WIDTH**-0.5) for name, shape in LAYER.shapes().items()}


def case(parameters: Mapping[str, Numbers], expected: Numbers) -> Case:
    """The case of what a package ``expected`` for the parameters."""
    module = torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True).double()
    module.load_state_dict(to_torch_nn(tensors(parameters)))
    x = torch.from_numpy(X)

    def ours(convert: Convert) -> list[Any]:
        native, mask = converted(parameters, convert), convert(SEEN)[:, None, None, :]
        return [LAYER(native, convert(X), mask=mask)]

    options = {"key_padding_mask": torch.from_numpy(~SEEN), "need_weights": False}
    return case_of(lambda: [module(x, x, x, **options)[0]], ours, [expected])


CASES: dict[str, Callable[[], Case]] = {
    "flax.nnx.MultiHeadAttention": flax,
    "keras.layers.MultiHeadAttention": keras,
}


def build(name: str) -> Case:
    """The case of that name."""
    return CASES[name]()
