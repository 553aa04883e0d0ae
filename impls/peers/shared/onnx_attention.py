"""The node ``Attention`` of the ONNX standard (onnx/defs/nn/defs.cc), since opset 23, for a call of attention."""

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto

from attnspec.impls.peers.shared.onnx_model import Array, Node, Value, described, given

Run = Callable[[Node, dict[str, Array]], list[Array]]
"""Makes a model of the node, gives it the named arrays, and returns the outputs that the node asks for."""

STANDARD = "https://onnx.ai/onnx/operators/onnx__Attention.html"
BIAS_IS_ADDED = "a float `attn_mask` is added to the attention scores rather than disabling positions", STANDARD
MASK_SHAPE = (
    "Attention mask. Shape must be broadcastable to `(batch_size, q_num_heads, q_sequence_length, "
    "total_sequence_length)` where `total_sequence_length = past_sequence_length + kv_sequence_length`.",
    STANDARD,
)
"""What the standard says of opset 25, as known issues are held against it; so do opsets 23 and 24 of biases."""


def attend(
    run: Run,
    opset: int,
    query: Array,
    key: Array,
    value: Array,
    *,
    mask: Array | None = None,
    bias: Array | None = None,
    key_lengths: Array | None = None,
    window: tuple[int | None, int | None] | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    return_weights: bool = False,
    all_in_bfloat16: bool = False,
) -> Any:
    """Attention of query (B, Hq, L, D) over key (B, Hkv, S, D) and value (B, Hkv, S, Dv): (B, Hq, L, Dv).

    mask is bool (True attends), bias has the inputs' dtype; both broadcast to (B, Hq, L, S). With ``return_weights``
    also (B, Hq, L, S). The softmax of bfloat16 is in float32 unless ``all_in_bfloat16``. ValueError for what the node
    would read in another way, or not at all.
    """
    _check(mask, bias, key_lengths, is_causal or window is not None)
    arrays = {"Q": query, "K": key, "V": value, "attn_mask": mask if bias is None else bias}
    arrays |= {
        "past_key": None,
        "past_value": None,
        "nonpad_kv_seqlen": None if key_lengths is None else _tokens(key_lengths, key),
    }
    attributes: dict[str, Any] = {"is_causal": int(is_causal), "scale": scale, "softcap": softcap}
    if query.dtype.name == "bfloat16" and not all_in_bfloat16:
        attributes["softmax_precision"] = TensorProto.FLOAT  # a sum of 256 equal terms grows no further in bfloat16
    if window is not None:
        attributes |= dict(zip(("left_window_size", "right_window_size"), map(_bound, window), strict=True))
    output = Value("Y", query.dtype.name, query.ndim)
    outputs: tuple[Value, ...] = (output,)
    if return_weights:
        attributes["qk_matmul_output_mode"] = 3
        outputs += (Value(), Value(), output._replace(name="qk_matmul_output"))
    told = tuple((name, setting) for name, setting in attributes.items() if setting is not None)
    results = run(Node("Attention", opset, described(arrays), outputs, told), given(arrays))
    return tuple(results) if return_weights else results[0]


def _check(mask: Array | None, bias: Array | None, key_lengths: Array | None, counted: bool) -> None:
    if mask is not None and bias is not None:
        raise ValueError("attn_mask: wanted mask or bias, came both, in Attention")
    if mask is not None and mask.dtype != bool:
        raise ValueError(f"attn_mask: wanted a mask of bool, came {mask.dtype}, in Attention")
    if key_lengths is not None and counted:
        raise ValueError("nonpad_kv_seqlen: wanted it without is_causal or window, which count from it, in Attention")


def _tokens(key_lengths: Array, key: Array) -> Array:
    """How many keys are no padding: of as many as there are."""
    return np.minimum(key_lengths.astype(np.int64, casting="same_kind"), key.shape[-2])


def _bound(bound: int | None) -> int:
    """The node's -1 is open; a bound below it would be taken for an error, and -1 for the other bound's absence."""
    if bound is None:
        return -1
    if bound < 0:
        raise ValueError(f"window: wanted bounds of 0 or more, came {bound}, in Attention")
    return bound
