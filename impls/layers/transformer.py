"""The Transformer: encoder and decoder between token ids and scores of the next token, and greedy decoding."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from array_api_compat import array_namespace, device

from attnspec.impls.layers.checks import want_ids, whole
from attnspec.impls.layers.core import Attention, default_core
from attnspec.impls.layers.decoder import Decoder, DecoderLayer, Kept
from attnspec.impls.layers.dropout import Seed, dropout, sub
from attnspec.impls.layers.embedding import Embedding, SinusoidalPositions, indices
from attnspec.impls.layers.encoder import Encoder, EncoderLayer
from attnspec.impls.layers.layer import Layer
from attnspec.impls.layers.linear import Linear
from attnspec.impls.layers.masks import padding_mask_of_ids
from attnspec.impls.layers.parameters import Array, within


class State(NamedTuple):
    """Where decoding is: what the layers keep, the mask of the memory, and how many tokens are past."""

    kept: tuple[Kept, ...]
    memory_mask: Array
    length: int = 0


@dataclass(frozen=True)
class Transformer(Layer):
    """Source ids (B, S) and target ids (B, n) to logits (B, n, target_count) of the token after each.

    Vaswani et al., Attention Is All You Need (2017), section 3 and figure 1: embeddings times √width plus sinusoidal
    positions, ``count`` encoder and decoder layers, a linear map to the target's tokens. Source tokens with the id
    ``padding`` are seen by nobody; the target needs no such mask, its padding coming after its tokens.
    """

    source_count: int
    target_count: int
    width: int
    heads: int
    hidden: int
    count: int
    activation: str = "relu"
    norm_first: bool = False
    dropout: float = 0.0
    padding: int = 0
    attention: Attention = default_core

    LEAST: ClassVar[Mapping[str, int]] = {"padding": 0}

    def check(self) -> None:
        """ValueError for a padding that is no token of both languages."""
        count = min(self.source_count, self.target_count)
        self.want(self.padding < count, f"padding to be a token of both languages, below {count}", self.padding)

    @cached_property
    def decoder(self) -> Decoder:
        """The decoder, for what it can do step by step."""
        options = {"activation": self.activation, "norm_first": self.norm_first, "dropout": self.dropout}
        return Decoder(
            DecoderLayer(self.width, self.heads, self.hidden, attention=self.attention, **options),  # type: ignore[arg-type]
            self.count,
        )

    def parts(self) -> dict[str, Layer]:
        """source_embedding, target_embedding, positions, encoder, decoder, and output to the target's tokens."""
        options = {"activation": self.activation, "norm_first": self.norm_first, "dropout": self.dropout}
        layer = EncoderLayer(self.width, self.heads, self.hidden, attention=self.attention, **options)  # type: ignore[arg-type]
        return {
            "source_embedding": Embedding(self.source_count, self.width),
            "target_embedding": Embedding(self.target_count, self.width),
            "positions": SinusoidalPositions(self.width),
            "encoder": Encoder(layer, self.count),
            "decoder": self.decoder,
            "output": Linear(self.width, self.target_count),
        }

    def __call__(
        self, parameters: Mapping[str, Array], source_ids: Array, target_ids: Array, *, seed: Seed = None
    ) -> Array:
        """Logits for all target tokens at once. ValueError for unknown ids and whatever else does not fit."""
        part = self.bind(parameters, source_ids, target_ids)
        memory, memory_mask = self.encode(parameters, source_ids, seed=sub(seed, 0))
        x = self._embedded(parameters, "target", target_ids, seed=sub(seed, 1))  # (B, n, width)
        x = part["decoder"](x, memory, memory_mask=memory_mask, seed=sub(seed, 2))
        return part["output"](x)

    def encode(self, parameters: Mapping[str, Array], source_ids: Array, *, seed: Seed = None) -> tuple[Array, Array]:
        """The memory (B, S, width), and which of it may be read (B, 1, 1, S)."""
        part, mask = self.bind(parameters, source_ids), padding_mask_of_ids(source_ids, self.padding)
        x = self._embedded(parameters, "source", source_ids, seed=sub(seed, 0))
        return part["encoder"](x, mask=mask, seed=sub(seed, 1)), mask

    def start(self, parameters: Mapping[str, Array], source_ids: Array) -> State:
        """The state before the first target token."""
        memory, mask = self.encode(parameters, source_ids)
        return State(self.decoder.keep(within(parameters, "decoder"), memory), mask)

    def step(self, parameters: Mapping[str, Array], ids: Array, state: State) -> tuple[Array, State]:
        """Logits (B, n, target_count) for the next target tokens, ids (B, n), and the state after them."""
        part = self.bind(parameters, ids)
        x = self._embedded(parameters, "target", ids, offset=state.length)
        mine = within(parameters, "decoder")
        x, kept = self.decoder.step(mine, x, state.kept, memory_mask=state.memory_mask)
        return part["output"](x), State(kept, state.memory_mask, state.length + ids.shape[1])

    def greedy(
        self,
        parameters: Mapping[str, Array],
        source_ids: Array,
        *,
        begin: int,
        end: int,
        length: int,
        use_cache: bool = True,
    ) -> Array:
        """Target ids (B, 1 + length): ``begin``, then always the likeliest next token; after ``end``, padding.

        Without use_cache each step goes over the whole target again, which gives the same. ValueError for begin and end
        that are no tokens of the target, and for a negative length.
        """
        want_ids("Transformer", source_ids, "source_ids")
        for name, token in (("begin", begin), ("end", end)):
            good = whole(token) and token < self.target_count
            self.want(good, f"{name} to be a token from 0 to {self.target_count - 1}", repr(token))
        self.want(whole(length), "a length of 0 or more", repr(length))
        xp, source_ids = array_namespace(source_ids), indices(source_ids)
        ids = xp.full((source_ids.shape[0], 1), begin, dtype=source_ids.dtype, device=device(source_ids))
        over = ids[:, -1] == end
        state = self.start(parameters, source_ids) if use_cache else None
        for _ in range(length):
            if state is None:
                logits = self(parameters, source_ids, ids)
            else:
                logits, state = self.step(parameters, ids[:, -1:], state)
            likeliest = xp.astype(xp.argmax(logits[:, -1, :], axis=-1), ids.dtype)  # (B,)
            new = xp.where(over, xp.full_like(likeliest, self.padding), likeliest)
            ids, over = xp.concat([ids, new[:, None]], axis=1), over | (new == end)
        return ids

    def _embedded(
        self, parameters: Mapping[str, Array], side: str, ids: Array, *, offset: int = 0, seed: Seed = None
    ) -> Array:
        """The tokens of one side as vectors, with their positions: section 3.4 and 3.5."""
        part = self.bind(parameters, ids)
        x = part[f"{side}_embedding"](ids) * math.sqrt(self.width)  # (B, n, width)
        return dropout(part["positions"](x, offset=offset), self.dropout, seed)
