"""Multi-head attention by one linear map and a split, the form that code has."""

from collections.abc import Mapping
from dataclasses import dataclass

from array_api_compat import array_namespace

from attnspec.impls.layers.checks import broadcasts, described, is_kind, want_mask, want_together
from attnspec.impls.layers.core import Attention, default_core, heads_last
from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.linear import Linear
from attnspec.impls.layers.masks import causal_mask
from attnspec.impls.layers.parameters import Array
from attnspec.impls.layers.positions import LAYOUTS, rotary_embedding

KeysValues = tuple[Array, Array]
"""Keys (B, kv_heads, S, key_width) and values (B, kv_heads, S, value_width), kept from one step to the next."""


@dataclass(frozen=True)
class MultiHead(Layer):
    """x (B, n, width) to the same: Concat(head_1, …, head_h)·W_Oᵀ. Vaswani et al. (2017), section 3.2.2.

    Self-attention, or with a ``source`` (B, S, source_width) cross-attention: queries from x, keys and values from it.
    kv_heads: so many key/value heads, each shared by heads // kv_heads query heads (Ainslie et al., GQA, 2023; with
    one, Shazeer, MQA, 2019). key_width and value_width are those of one head, width // heads unless given.
    rotary: "interleaved" or "half-split", the queries and keys of self-attention turned by their positions.
    """

    width: int
    heads: int
    kv_heads: int | None = None
    key_width: int | None = None
    value_width: int | None = None
    source_width: int | None = None
    bias: bool = True
    rotary: str | None = None
    rotary_base: float = 10000.0
    attention: Attention = default_core

    def check(self) -> None:
        """ValueError for fields that do not go together."""
        kv_heads, key, _ = self.widths
        if self.key_width is None:
            self.want(self.width % self.heads == 0, f"heads that divide {self.width}", self.heads)
        self.want(self.heads % kv_heads == 0, f"kv_heads that divide {self.heads}", kv_heads)
        if self.rotary is not None:
            self.want(self.rotary in LAYOUTS, f"rotary of {', '.join(LAYOUTS)}", repr(self.rotary))
            self.want(key % 2 == 0, "an even width of the heads, for rotary", key)
            self.want(self.rotary_base > 0, "a rotary_base above 0", self.rotary_base)

    @property
    def widths(self) -> tuple[int, int, int]:
        """Key/value heads, key width and value width, none of them None."""
        key = self.width // self.heads if self.key_width is None else self.key_width
        kv_heads = self.heads if self.kv_heads is None else self.kv_heads
        return kv_heads, key, key if self.value_width is None else self.value_width

    def parts(self) -> dict[str, Layer]:
        """query, key and value, each all heads in one map; output, back to width."""
        kv_heads, key, value = self.widths
        source = self.width if self.source_width is None else self.source_width
        return {
            "query": Linear(self.width, self.heads * key, self.bias),
            "key": Linear(source, kv_heads * key, self.bias),
            "value": Linear(source, kv_heads * value, self.bias),
            "output": Linear(self.heads * value, self.width, self.bias),
        }

    def __call__(
        self,
        parameters: Mapping[str, Array],
        x: Array,
        *,
        source: Array | None = None,
        mask: Array | None = None,
        bias: Array | None = None,
        is_causal: bool = False,
    ) -> Array:
        """Attend. ``mask`` is (n, S) or (B, heads, n, S), where sizes of 1 broadcast, and True may attend.

        ``bias`` broadcasts to (B, heads, n, S). ValueError for what does not fit, such as a source of another B.
        """
        kept = self.keys_values(parameters, x if source is None else source)
        return self.attend(parameters, x, kept, mask=mask, bias=bias, is_causal=is_causal)

    def keys_values(self, parameters: Mapping[str, Array], source: Array, *, offset: int = 0) -> KeysValues:
        """Keys and values of ``source`` (B, S, source_width), its first token being at position ``offset``."""
        part, (kv_heads, _, _) = self.bind(parameters, source), self.widths
        self.want_width(source, self.width if self.source_width is None else self.source_width, "source")
        key, value = (split(part[name](source), kv_heads) for name in ("key", "value"))
        return self.turned(key, offset), value

    def attend(
        self,
        parameters: Mapping[str, Array],
        x: Array,
        kept: KeysValues,
        *,
        offset: int = 0,
        mask: Array | None = None,
        bias: Array | None = None,
        is_causal: bool = False,
    ) -> Array:
        """Queries of ``x`` (B, n, width), the first at position ``offset``, over keys and values: (B, n, width)."""
        part = self.bind(parameters, x)
        self.want_width(x, self.width)
        self.want_kept(x, kept)
        shape = (x.shape[0], self.heads, x.shape[1], kept[0].shape[2])
        want_mask("MultiHead", mask, x, shape)
        if bias is not None:
            self.want(is_kind(bias, "real floating") and broadcasts(bias, shape), f"a bias {shape}", described(bias))
            want_together("MultiHead", {"x": x, "bias": bias})
        query = self.turned(split(part["query"](x), self.heads), offset)  # (B, heads, n, key_width)
        options = {} if bias is None else {"bias": bias}
        heads = self.attention(query, *kept, mask=mask, is_causal=is_causal, **options)  # (B, heads, n, value_width)
        return part["output"](merge(heads))

    def want_kept(self, x: Array, kept: KeysValues) -> None:
        """ValueError unless keys and values are of the heads and widths here, and of as many sequences as ``x``."""
        kv_heads, key, value = self.widths
        batch, came = x.shape[0], [tuple(array.shape) for array in kept]
        wanted = [(batch, kv_heads, *shape[2:3], width) for shape, width in zip(came, (key, value), strict=False)]
        told = f"keys ({batch}, {kv_heads}, S, {key}) and values ({batch}, {kv_heads}, S, {value}), B being that of x"
        self.want(came == wanted and len(came) == 2 and came[0][2] == came[1][2], told, " and ".join(map(str, came)))

    def step(
        self, parameters: Mapping[str, Array], x: Array, past: KeysValues | None = None
    ) -> tuple[Array, KeysValues]:
        """Causal self-attention of the next tokens, ``x`` (B, n, width), over the past ones and themselves."""
        if past is not None:
            self.want_kept(x, past)
        xp, offset = array_namespace(x), 0 if past is None else past[0].shape[2]
        new = self.keys_values(parameters, x, offset=offset)
        kept = new if past is None else (xp.concat([past[0], new[0]], axis=2), xp.concat([past[1], new[1]], axis=2))
        mask = causal_mask(x.shape[1], x, offset=offset)
        return self.attend(parameters, x, kept, offset=offset, mask=mask), kept

    def turned(self, x: Array, offset: int) -> Array:
        """``x`` (B, heads, n, d) turned by its positions, if that is asked for."""
        if self.rotary is None:
            return x
        return rotary_embedding(x, offset=offset, base=self.rotary_base, layout=self.rotary)


def split(x: Array, heads: int) -> Array:
    """(B, n, heads·d) to (B, heads, n, d): d neighbouring features make a head."""
    return heads_last(array_namespace(x).reshape(x, (*x.shape[:2], heads, x.shape[2] // heads)))


def merge(x: Array) -> Array:
    """(B, heads, n, d) to (B, n, heads·d): the heads one after the other."""
    batch, heads, length, width = x.shape
    return array_namespace(x).reshape(heads_last(x), (batch, length, heads * width))
