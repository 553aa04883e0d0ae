"""PyTorch's attention and Transformer modules, and our layers with the same weights."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import attnspec.impls.layers as layers
from attnspec.impls.layers.parameters import within
from attnspec.impls.models.torch_nn import from_torch_nn
from attnspec.parity.case import Case, Convert, converted, single
from attnspec.parity.modules import case_of, randomised, weights

WIDTH, HEADS, HIDDEN, COUNT = 12, 3, 20, 2

RNG = np.random.default_rng(2)
X, Y = single(RNG, (2, 5, WIDTH)), single(RNG, (2, 4, WIDTH))
SEEN = np.array([[True] * 5, [True] * 3 + [False] * 2])
"""Inputs, targets, and which inputs are no padding."""

OPTIONS = {"dropout": 0.0, "batch_first": True, "dim_feedforward": HIDDEN}


def attention() -> Case:
    """MultiheadAttention over itself, with padding."""
    module = randomised(torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True))
    x, hidden = torch.from_numpy(X), torch.from_numpy(~SEEN)
    layer, parameters = layers.MultiHead(WIDTH, HEADS), from_torch_nn(weights(module))

    def ours(convert: Convert) -> list[Any]:
        mask = convert(SEEN)[:, None, None, :]
        return [layer(converted(parameters, convert), convert(X), mask=mask)]

    return case_of(lambda: [module(x, x, x, key_padding_mask=hidden, need_weights=False)[0]], ours)


def encoder_layer(norm_first: bool = False) -> Case:
    """TransformerEncoderLayer with padding, its LayerNorm after or before."""
    module = randomised(
        torch.nn.TransformerEncoderLayer(WIDTH, HEADS, activation="gelu", norm_first=norm_first, **OPTIONS)
    )
    layer = layers.EncoderLayer(WIDTH, HEADS, HIDDEN, "gelu", norm_first)
    parameters = from_torch_nn(weights(module))

    def ours(convert: Convert) -> list[Any]:
        return [layer(converted(parameters, convert), convert(X), mask=convert(SEEN)[:, None, None, :])]

    return case_of(lambda: [module(torch.from_numpy(X), src_key_padding_mask=torch.from_numpy(~SEEN))], ours)


def decoder_layer() -> Case:
    """TransformerDecoderLayer, causal, over a memory with padding."""
    module = randomised(torch.nn.TransformerDecoderLayer(WIDTH, HEADS, **OPTIONS))
    layer, parameters = layers.DecoderLayer(WIDTH, HEADS, HIDDEN), from_torch_nn(weights(module))

    def ours(convert: Convert) -> list[Any]:
        mask = convert(SEEN)[:, None, None, :]
        return [layer(converted(parameters, convert), convert(Y), convert(X), memory_mask=mask)]

    options = {"tgt_mask": _future(), "memory_key_padding_mask": torch.from_numpy(~SEEN)}
    return case_of(lambda: [module(torch.from_numpy(Y), torch.from_numpy(X), **options)], ours)


def transformer() -> Case:
    """Transformer: the memory, and what the decoder makes of it; PyTorch normalises the last state of each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "enable_nested_tensor", UserWarning)  # nobody asked for one
        module = randomised(torch.nn.Transformer(WIDTH, HEADS, COUNT, COUNT, **OPTIONS))
    encoder = layers.Encoder(layers.EncoderLayer(WIDTH, HEADS, HIDDEN), COUNT, final_norm=True)
    decoder = layers.Decoder(layers.DecoderLayer(WIDTH, HEADS, HIDDEN), COUNT, final_norm=True)
    parameters = from_torch_nn(weights(module))

    def compute() -> list[Any]:
        hidden = torch.from_numpy(~SEEN)
        memory = module.encoder(torch.from_numpy(X), src_key_padding_mask=hidden)
        options = {"tgt_mask": _future(), "memory_key_padding_mask": hidden}
        return [memory, module.decoder(torch.from_numpy(Y), memory, **options)]

    def ours(convert: Convert) -> list[Any]:
        native, mask = converted(parameters, convert), convert(SEEN)[:, None, None, :]
        memory = encoder(within(native, "encoder"), convert(X), mask=mask)
        return [memory, decoder(within(native, "decoder"), convert(Y), memory, memory_mask=mask)]

    return case_of(compute, ours)


def _future() -> Any:
    """True where a target token comes after another: PyTorch's modules block what is True."""
    return ~torch.ones(Y.shape[1], Y.shape[1]).tril().bool()


CASES: dict[str, Callable[[], Case]] = {
    "torch.nn.MultiheadAttention": attention,
    "torch.nn.TransformerEncoderLayer": encoder_layer,
    "torch.nn.TransformerEncoderLayer, norm first": lambda: encoder_layer(norm_first=True),
    "torch.nn.TransformerDecoderLayer": decoder_layer,
    "torch.nn.Transformer": transformer,
}


def build(name: str) -> Case:
    """The case of that name."""
    return CASES[name]()
