"""Parameters from the state dicts of PyTorch's own attention and Transformer modules, and back.

torch.nn.MultiheadAttention, TransformerEncoderLayer, TransformerDecoderLayer, TransformerEncoder, TransformerDecoder
and Transformer. They keep the maps of queries, keys and values as one, which is cut apart and joined again.
"""

from collections.abc import Mapping

from array_api_compat import array_namespace

from attnspec.impls.layers.parameters import Array

THREE = ("query", "key", "value")

NAMES = {
    "attention": "self_attn",
    "cross_attention": "multihead_attn",
    "output": "out_proj",
    "feed_forward.inner": "linear1",
    "feed_forward.outer": "linear2",
    "attention_norm": "norm1",
    "cross_attention_norm": "norm2",
}
"""Ours and PyTorch's, in every layer; the norm of the feed-forward layer is the last, norm2 or norm3."""


def from_torch_nn(state: Mapping[str, Array]) -> dict[str, Array]:
    """Our parameters, for MultiHead, EncoderLayer, DecoderLayer or a stack of them.

    A stack of both has the names of ``state`` in front: "encoder.layers.0.…". ValueError for keys or values whose
    width is not that of the queries (kdim, vdim), and for what is added to them (add_bias_kv).
    """
    ours: dict[str, Array] = {}
    for name, array in state.items():
        module, _, own = name.rpartition(".")
        if own.startswith("in_proj_"):
            ours |= _apart(_renamed(module, state), own.removeprefix("in_proj_"), array)
        elif own in ("weight", "bias"):
            ours[f"{_renamed(module, state)}.{own}"] = array
        else:
            raise ValueError(f"from_torch_nn: wanted in_proj_weight, in_proj_bias, weight and bias, came {name}")
    return ours


def to_torch_nn(parameters: Mapping[str, Array]) -> dict[str, Array]:
    """The state dict that ``from_torch_nn`` takes back."""
    theirs: dict[str, Array] = {}
    for name, array in parameters.items():
        module, _, own = name.rpartition(".")
        place, _, kind = f".{module}".rpartition(".")
        if kind not in THREE:
            theirs[f"{_their_module(module, parameters)}.{own}"] = array
        elif kind == "query":
            joined = [parameters[f"{place}.{part}.{own}".lstrip(".")] for part in THREE]
            prefix = _their_module(place.lstrip("."), parameters)
            theirs[f"{prefix}.in_proj_{own}".lstrip(".")] = array_namespace(array).concat(joined, axis=0)
    return theirs


def _apart(module: str, own: str, array: Array) -> dict[str, Array]:
    rows = array.shape[0] // 3
    prefix = f"{module}." if module else ""
    return {f"{prefix}{part}.{own}": array[i * rows : (i + 1) * rows] for i, part in enumerate(THREE)}


def _renamed(module: str, state: Mapping[str, Array]) -> str:
    layer, _, last = f".{module}".rpartition(".")
    is_decoder = f"{layer}.multihead_attn.in_proj_weight".lstrip(".") in state
    if last == ("norm3" if is_decoder else "norm2"):
        return f"{layer}.feed_forward_norm".lstrip(".")
    ours = {theirs: name for name, theirs in NAMES.items()}
    return ".".join(ours.get(part, part) for part in module.split("."))


def _their_module(module: str, parameters: Mapping[str, Array]) -> str:
    layer, _, last = f".{module}".rpartition(".")
    if last == "feed_forward_norm":
        is_decoder = f"{layer}.cross_attention.query.weight".lstrip(".") in parameters
        return f"{layer}.norm{3 if is_decoder else 2}".lstrip(".")
    for ours, theirs in NAMES.items():
        if f".{module}".endswith(f".feed_forward.{last}") and ours == f"feed_forward.{last}":
            return f"{module.removesuffix(ours)}{theirs}"
    return ".".join(NAMES.get(part, part) for part in module.split("."))
