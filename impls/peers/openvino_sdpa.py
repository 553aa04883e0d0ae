"""ScaledDotProductAttention, opset 13 of OpenVINO, on the CPU.

Each shape has a model of its own, for with open sizes a result depends on earlier calls: see openvino_sdpa_reused.
"""

import functools
from typing import Any

import numpy as np
import openvino
from openvino import opset13

from attnspec.impls.peers.shared.openvino_model import SPECIFICATION, Array, Compiled, compiled
from attnspec.impls.peers.shared.openvino_model import operators as kernels

__all__ = ["attention", "kernels"]

ARRAYS = "numpy"
PACKAGES = ("openvino",)
DTYPES = ("float32", "float16")
LACKS = {
    "rank2",
    "gqa",
    "bias_dtype",
    "mask+bias",  # there is one input for both, and causal ignores it
    "mask+is_causal",
    "bias+is_causal",
}
KNOWN_ISSUES = {
    "zero_size": "a query and a key of width 0 give what lay in memory before; unreported",
    "rejection.mask_shape": "a mask of five axes gives an output of five; unreported",
}
DOCUMENTATION = {
    "rejection.mask_shape": (
        "at least 2 dimensional tensor of type T or boolean and shape numpy-broadcastable to [N, ..., L, S].",
        SPECIFICATION,
    ),
}
CONVENTIONS = {
    "empty_row": "nan",  # https://github.com/openvinotoolkit/openvino/issues/35959
    "masked_nonfinite": "propagates",
}
KERNEL = "Subgraph"  # the plugin writes the operator out and fuses that


@functools.lru_cache(maxsize=512)
def model(inputs: tuple[tuple[str, str, tuple[int, ...]], ...], is_causal: bool) -> Compiled:
    """The operator alone, with inputs of these names, dtypes and shapes."""
    parameters = {n: opset13.parameter(shape, np.dtype(dtype), name=n) for n, dtype, shape in inputs}
    for name, parameter in parameters.items():
        parameter.output(0).get_tensor().set_names({name})
    options = {n: parameters[n] for n in ("attention_mask", "scale") if n in parameters}
    first = [parameters[name] for name in ("query", "key", "value")]
    node = opset13.scaled_dot_product_attention(*first, **options, causal=is_causal)
    return compiled(openvino.Model([node], list(parameters.values()), "attention"))


def attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    mask: Array | None = None,
    bias: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Any:
    """Attention of query (B, H, L, D) over key (B, H, S, D) and value (B, H, S, Dv): (B, H, L, Dv).

    mask is bool (True attends), bias has the inputs' dtype; both broadcast to (B, H, L, S). ValueError for two of mask,
    bias and is_causal, of which the operator would ignore one, and for a mask that is not bool, which it would add.
    Source: https://docs.openvino.ai, ScaledDotProductAttention-13.
    """
    if sum((mask is not None, bias is not None, is_causal)) > 1:
        raise ValueError("attention_mask: wanted one of mask, bias and is_causal, came more, in OpenVINO's attention")
    if mask is not None and mask.dtype != bool:
        raise ValueError(f"attention_mask: wanted a mask of bool, came {mask.dtype}, in OpenVINO's attention")
    arrays = {"query": query, "key": key, "value": value, "attention_mask": mask if bias is None else bias}
    arrays["scale"] = None if scale is None else np.array(scale, query.dtype)
    given = {name: array for name, array in arrays.items() if array is not None}
    ready = model(tuple((n, a.dtype.name, a.shape) for n, a in given.items()), is_causal)
    return ready(given)[0]
