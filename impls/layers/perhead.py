"""Multi-head attention by three linear maps for each head, the form of the paper's figure, and its weights."""

from collections.abc import Mapping
from dataclasses import dataclass

from array_api_compat import array_namespace

from attnspec.impls.layers.attention import SelfAttention
from attnspec.impls.layers.core import Attention, default_core
from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.linear import Linear
from attnspec.impls.layers.multihead import MultiHead
from attnspec.impls.layers.parameters import Array


@dataclass(frozen=True)
class PerHead(Layer):
    """x (B, n, width) to the same: head_i = Attention(x·W_Qᵢᵀ, x·W_Kᵢᵀ, x·W_Vᵢᵀ), Concat(head_1, …, head_h)·W_Oᵀ.

    Vaswani et al. (2017), section 3.2.2 and figure 2 on the right. The same function as ``MultiHead`` of the same
    sizes, for the weights that ``per_head`` makes of its weights.
    """

    width: int
    heads: int
    key_width: int | None = None
    value_width: int | None = None
    bias: bool = True
    attention: Attention = default_core

    def check(self) -> None:
        """ValueError for heads that do not divide the width."""
        MultiHead(self.width, self.heads, key_width=self.key_width)

    def parts(self) -> dict[str, Layer]:
        """heads.0, heads.1, …, each with query, key and value; output, from all heads to width."""
        key = self.width // self.heads if self.key_width is None else self.key_width
        value = key if self.value_width is None else self.value_width
        head = SelfAttention(self.width, key, value, self.bias, self.attention)
        output = Linear(self.heads * value, self.width, self.bias)
        return {**{f"heads.{i}": head for i in range(self.heads)}, "output": output}

    def __call__(
        self, parameters: Mapping[str, Array], x: Array, *, mask: Array | None = None, is_causal: bool = False
    ) -> Array:
        """Attend. ``mask`` (n, n) or (B, 1, n, n), the same for all heads; ValueError for what does not fit."""
        part = self.bind(parameters, x)
        self.want_width(x, self.width)
        heads = [part[f"heads.{i}"](x, mask=mask, is_causal=is_causal) for i in range(self.heads)]  # (B, n, value)
        return part["output"](array_namespace(x).concat(heads, axis=-1))


def per_head(layer: MultiHead, parameters: Mapping[str, Array]) -> dict[str, Array]:
    """The parameters of ``layer`` for the PerHead of its sizes: its rows, cut at the heads; grouped ones repeated."""
    layer.bind(parameters)
    found = {name: array for name, array in parameters.items() if name.startswith("output.")}
    kv_heads, key, value = layer.widths
    sizes = {"query": (layer.heads, key), "key": (kv_heads, key), "value": (kv_heads, value)}
    for name, array in parameters.items():
        kind = name.partition(".")[0]
        if kind in sizes:
            maps, rows = sizes[kind]
            for head in range(layer.heads):
                first = head // (layer.heads // maps) * rows
                found[f"heads.{head}.{name}"] = array[first : first + rows, ...]
    return found


def one_map(layer: PerHead, parameters: Mapping[str, Array]) -> dict[str, Array]:
    """The parameters of ``layer`` for the MultiHead of its sizes: the heads' rows, one after the other."""
    layer.bind(parameters)
    found = {name: array for name, array in parameters.items() if name.startswith("output.")}
    for name in (name.removeprefix("heads.0.") for name in parameters if name.startswith("heads.0.")):
        arrays = [parameters[f"heads.{head}.{name}"] for head in range(layer.heads)]
        found[name] = array_namespace(*arrays).concat(arrays, axis=0)
    return found
