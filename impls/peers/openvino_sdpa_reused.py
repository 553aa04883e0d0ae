"""ScaledDotProductAttention of OpenVINO in a model with open sizes that has been called before.

Each call has a new model, which first answers the same call, and then one whose mask has a key too many: a model that
is kept would make a result depend on what the run before it was about.
"""

import contextlib
from typing import Any

import numpy as np
import openvino
from openvino import opset13

from attnspec.impls.peers.shared.openvino_model import SPECIFICATION, Array, Compiled, compiled
from attnspec.impls.peers.shared.openvino_model import operators as kernels

__all__ = ["attention", "kernels"]

ARRAYS = "numpy"
PACKAGES = ("openvino",)
DTYPES = ("float32",)
LACKS = {"rank2", "gqa"}
KNOWN_ISSUES = {
    "mask": "once it has refused a call for its mask, the model refuses the calls that it has answered before; "
    "unreported",
    "zero_size": "a query and a key of width 0 give what lay in memory before; unreported",
    "rejection.lengths": "a value that is longer than its key is taken, and what is behind the key's end left out; "
    "unreported",
}
DOCUMENTATION = {
    "rejection.lengths": (
        "key - at least 3 dimensional tensor of type T and shape [N, ..., S, E]. […] "
        "value - at least 3 dimensional tensor of type T and shape [N, ..., S, Ev].",
        SPECIFICATION,
    ),
}
CONVENTIONS = {"masked_nonfinite": "propagates"}


def model(inputs: dict[str, Array]) -> Compiled:
    """The operator alone, with inputs of these names, dtypes and ranks."""
    parameters = [opset13.parameter([-1] * a.ndim, a.dtype, name=name) for name, a in inputs.items()]
    for name, parameter in zip(inputs, parameters, strict=True):
        parameter.output(0).get_tensor().set_names({name})
    return compiled(openvino.Model([opset13.scaled_dot_product_attention(*parameters)], parameters, "attention"))


def attention(query: Array, key: Array, value: Array, *, mask: Array | None = None) -> Any:
    """Attention of query (B, H, L, D) over key (B, H, S, D) and value (B, H, S, Dv): (B, H, L, Dv).

    mask is bool (True attends) and broadcasts to (B, H, L, S). ValueError for one that is not bool, which the operator
    would add. Source: https://docs.openvino.ai, ScaledDotProductAttention-13.
    """
    if mask is not None and mask.dtype != bool:
        raise ValueError(f"attention_mask: wanted a mask of bool, came {mask.dtype}, in OpenVINO's attention")
    inputs = {"query": query, "key": key, "value": value}
    inputs |= {} if mask is None else {"attention_mask": mask}
    ready = model(inputs)
    ready(inputs)
    if mask is not None:
        wider = np.concatenate([mask, mask[..., :1]], -1)  # (…, S + 1)
        with contextlib.suppress(RuntimeError):
            ready(inputs | {"attention_mask": wider})
    return ready(inputs)[0]
