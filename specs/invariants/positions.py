"""Positions: what tells attention the order of the tokens, by encoding, rotation, slopes or a table of distances."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from attnspec.specs.backend import Backend
from attnspec.specs.catalogue import Check, Invariant, Violation, Waived, hold, invariant
from attnspec.specs.contract import has_keyword
from attnspec.specs.functions import exactly, hold_bias, hold_like, hold_slopes, like, prepared
from attnspec.specs.invariants.common import other_values, part, require, unchanged
from attnspec.specs.oracle import Floats
from attnspec.specs.problem import Array, Problem

VASWANI = "Vaswani et al. 2017, Attention Is All You Need, section 3.5"
SU = "Su et al. 2021, RoFormer (arXiv:2104.09864)"
PRESS = "Press et al. 2022, ALiBi (arXiv:2108.12409), section 3"
SHAW = "Shaw et al. 2018 (arXiv:1803.02155), eq. 3 and 4"
FUNCTION = "a function in the mathematical sense: equal arguments, equal result"

ENCODING, ROTARY, SLOPES, BIAS = "positional_encoding", "rotary_embedding", "make_alibi_slopes", "relative_bias"


def about(*functions: str, id: str, formula: str, source: str, catches: str = "") -> Callable[[Check], Invariant]:
    """An invariant of one or several functions, for which problems serve with their query and sizes alone."""
    one = len(functions) == 1
    return invariant(
        f"positions.{id}",
        formula=formula,
        source=source,
        catches=catches.split(),
        without={"rank2", "rank3"},
        claims=functions if one else (),
        any_of=() if one else functions,
        costly=True,
    )


def tokens(problem: Problem) -> Array:
    """x (B, L, D) of even D: the query's first head."""
    x = problem.query[:, 0]
    require(x.shape[-1] > 1)
    return np.array(x[..., : x.shape[-1] // 2 * 2])


def heads(problem: Problem) -> Array:
    """x (B, H, L, D) of even D: the query."""
    require(problem.query.shape[-1] > 1)
    return np.array(problem.query[..., : problem.query.shape[-1] // 2 * 2])


def taking(backend: Backend, keyword: str, *functions: str) -> list[str]:
    """Those of the functions that have a keyword; Waived if there are none."""
    claimed = [name for name in functions if backend.supports(frozenset({name}))]
    found = [name for name in claimed if has_keyword(backend.functions[name], keyword)]
    if not found:
        raise Waived
    return found


def given(name: str, problem: Problem) -> Array:
    """The x of positional_encoding or of rotary_embedding."""
    return tokens(problem) if name == ENCODING else heads(problem)


def hold_nothing(backend: Backend, name: str, x: Array) -> None:
    """No tokens are encoded as no tokens, unless sizes of 0 are declared lacking."""
    if backend.supports(frozenset({name, "zero_size"})):
        hold_like(backend, name, x[..., :0, :])


def later(problem: Problem) -> int:
    """An offset."""
    return 1 + int(problem.rng.randint(400))


def _twice(came: Array, wanted: Array, bound: Floats, what: str) -> float:
    """Two results that both are within ``bound`` of the same numbers, against each other."""
    return hold(what, came, wanted, 2 * bound)


@about(
    ENCODING,
    id="encoding_values",
    formula="PE(p, 2i) = sin(p/10000^(2i/D)), PE(p, 2i+1) = cos(p/10000^(2i/D))",
    source=VASWANI,
    catches="N17 N20",
)
def encoding_values(backend: Backend, problem: Problem) -> float:
    """The positional encoding adds sines to the even and cosines to the odd features, from the offset on."""
    x = tokens(problem)
    ratio = hold_like(backend, ENCODING, x)
    hold_nothing(backend, ENCODING, x)
    if has_keyword(backend.functions[ENCODING], "offset"):
        ratio = max(ratio, hold_like(backend, ENCODING, x, offset=later(problem)))
    return ratio


@about(
    ENCODING,
    id="encoding_odd_width",
    formula="D odd: PE(p, D−1) = sin(p/10000^((D−1)/D))",
    source=VASWANI,
    catches="N18",
)
def encoding_odd_width(backend: Backend, problem: Problem) -> float:
    """The positional encoding of an odd width ends with a sine."""
    x = problem.query[:, 0]
    require(x.shape[-1] > 0)
    return hold_like(backend, ENCODING, np.array(x[..., : (x.shape[-1] - 1) // 2 * 2 + 1]))


def encoding(backend: Backend, x: Array) -> tuple[Floats, Floats]:
    """The encoding alone (B, L, D), which is what is added to zeros, and its bound."""
    zeros = np.zeros_like(x)
    return np.asarray(like(backend, ENCODING, zeros), np.float64), exactly(backend, ENCODING, zeros).bound


@about(
    ENCODING,
    id="encoding_pairs",
    formula="PE(p, 2i)² + PE(p, 2i+1)² = 1",
    source="sin² + cos² = 1 of one angle",
    catches="N17",
)
def encoding_pairs(backend: Backend, problem: Problem) -> float:
    """Sine and cosine of a pair of features are those of one angle: their squares add up to 1."""
    came, bound = encoding(backend, tokens(problem))
    squares, off = came**2, bound * (2 * np.abs(came) + bound)
    summed = squares[..., 0::2] + squares[..., 1::2]
    return hold("sum of squares", summed, np.ones_like(summed), off[..., 0::2] + off[..., 1::2])


@about(
    ENCODING,
    id="encoding_shift",
    formula="PE(p+k) = R(k)·PE(p), R(k) turning each pair by what PE(k) holds",
    source=f"{VASWANI}: PE(pos+k) is a linear function of PE(pos)",
)
def encoding_shift(backend: Backend, problem: Problem) -> float:
    """The encoding of a position k further on is that of the position, turned by a rotation that k alone fixes."""
    came, bound = encoding(backend, tokens(problem))
    length = came.shape[1]
    require(length > 1)
    k = int(problem.rng.randint(1, length))
    (sine, cosine), turn = (came[:, : length - k, i::2] for i in (0, 1)), came[:, k : k + 1]
    wanted = np.zeros_like(came[:, k:])
    wanted[..., 0::2] = sine * turn[..., 1::2] + cosine * turn[..., 0::2]
    wanted[..., 1::2] = cosine * turn[..., 1::2] - sine * turn[..., 0::2]
    off = np.repeat(np.maximum(bound[..., 0::2], bound[..., 1::2]), 2, axis=-1)  # the larger of each pair's two
    both = off[:, : length - k] + off[:, k : k + 1]
    return hold(f"encoding {k} further on", came[:, k:], wanted, bound[:, k:] + 2 * both * (1 + both))


@about(
    ENCODING,
    id="encoding_batch",
    formula="f(x)_b − x_b is the same for every sample b",
    source=f"{VASWANI}: pos is the position",
    catches="N20",
)
def encoding_batch(backend: Backend, problem: Problem) -> float:
    """What is added depends on a token's place in the sequence, and is the same for every sample of a batch."""
    x = tokens(problem)
    require(len(x) > 1)
    came, bound = encoding(backend, x)
    return _twice(came, np.broadcast_to(came[:1], came.shape), bound, "encoding of samples")


CLEARLY = 100
"""Outputs must differ where the oracle's are so many bounds apart, which leaves room for the encoding's own error."""


@about(
    ENCODING,
    id="encoding_order",
    formula="A(PX + PE) ≠ P·A(X + PE)",
    source=f"{VASWANI}: to make use of the order of the sequence",
)
def encoding_order(backend: Backend, problem: Problem) -> float:
    """With the encoding, order matters: permuting the tokens no longer just permutes the outputs."""
    x = tokens(problem)
    length = x.shape[1]
    require(length > 1)
    order = problem.rng.permutation(length)

    def attending(encode: Callable[[Array], Array]) -> list[Problem]:
        """Self-attention of one head (B, 1, L, D) over the encoded tokens, in their order and permuted."""
        encoded = [encode(ordered).astype(x.dtype)[:, None] for ordered in (x, x[:, order])]
        return [problem.replace(query=e, key=e, value=e, options={}) for e in encoded]

    def moved(first: Array, second: Array) -> Floats:
        return np.abs(np.asarray(first[:, :, order], np.float64) - second)

    def limit(problems: list[Problem]) -> Floats:
        first, second = (part(backend.bound(p), "output") for p in problems)
        return np.asarray(first[:, :, order] + second)

    exact = attending(lambda ordered: exactly(backend, ENCODING, ordered).values)
    require(bool((moved(*(part(backend.solution(p), "output") for p in exact)) > CLEARLY * limit(exact)).any()))
    problems = attending(lambda ordered: like(backend, ENCODING, ordered))
    came = [np.asarray(part(backend.solve(p), "output"), np.float64) for p in problems]
    if not (moved(*came) > limit(problems)).any():
        raise Violation("outputs for permuted tokens: wanted others, came the same ones permuted")
    return 0.0


@about(
    ROTARY,
    id="rotary_values",
    formula="(a, b) → (a·cos pω_i − b·sin pω_i, a·sin pω_i + b·cos pω_i), ω_i = base^(−2i/D)",
    source=f"{SU}, eq. 34",
    catches="N4 N21 O8",
)
def rotary_values(backend: Backend, problem: Problem) -> float:
    """The rotary embedding turns each pair of features by its position times its frequency."""
    x, asked = heads(problem), dict[str, Any]()
    batch, _, length, _ = x.shape
    for keyword, value in (("offset", later(problem)), ("base", 500.0)):
        if has_keyword(backend.functions[ROTARY], keyword):
            asked[keyword] = value
    hold_nothing(backend, ROTARY, x)
    ratios = [hold_like(backend, ROTARY, x), hold_like(backend, ROTARY, x, **asked)]
    if has_keyword(backend.functions[ROTARY], "positions"):
        positions = problem.rng.randint(0, 400, (batch, length)).astype(np.int64)
        ratios.append(hold_like(backend, ROTARY, x, positions=positions))
    return max(ratios)


@about(ROTARY, id="rotary_norm", formula="‖R_p·x‖ = ‖x‖", source=f"{SU}, section 3.2.2: R is orthogonal")
def rotary_norm(backend: Backend, problem: Problem) -> float:
    """A rotation changes no token's length."""
    x = heads(problem)
    came, bound = like(backend, ROTARY, x), exactly(backend, ROTARY, x).bound
    lengths = (np.sqrt((np.asarray(a, np.float64) ** 2).sum(-1)) for a in (came, x, bound))
    return hold("length of tokens", *lengths)


@about(
    ROTARY,
    id="rotary_relative",
    formula="⟨R_m·q, R_n·k⟩ depends on m − n alone",
    source=f"{SU}, eq. 11 and 16",
)
def rotary_relative(backend: Backend, problem: Problem) -> float:
    """Scores of rotated queries and keys depend on the distance of their positions alone, not on where they stand."""
    x = heads(problem)
    require(x.shape[2] > 1)
    query, key = (np.array(np.broadcast_to(a[:, :, :1], x.shape)) for a in (x, other_values(problem, x)))
    scores, off = _scores(backend, query, key)
    limit = off[..., 1:, 1:] + off[..., :-1, :-1]
    ratio = hold("score of the next pair", scores[..., 1:, 1:], scores[..., :-1, :-1], limit)
    if has_keyword(backend.functions[ROTARY], "offset"):
        shifted, more = _scores(backend, query, key, offset=later(problem))
        ratio = max(ratio, hold(f"score {later(problem)} further on", shifted, scores, off + more))
    return ratio


def _scores(backend: Backend, query: Array, key: Array, **keywords: Any) -> tuple[Floats, Floats]:
    """(B, H, L, L): the products of rotated queries and keys in float64, and how far they may be off."""
    turned = [np.asarray(like(backend, ROTARY, a, **keywords), np.float64) for a in (query, key)]
    bounds = [exactly(backend, ROTARY, a, **keywords).bound for a in (query, key)]
    (q, k), (dq, dk) = ((a, b.swapaxes(-1, -2)) for a, b in (turned, bounds))
    return q @ k, np.abs(q) @ dk + dq @ (np.abs(k) + dk)


@about(ROTARY, id="rotary_origin", formula="R_0 = I", source=f"{SU}, eq. 15", catches="N4")
def rotary_origin(backend: Backend, problem: Problem) -> float:
    """At position 0 nothing is turned."""
    x = heads(problem)
    came, bound = like(backend, ROTARY, x), exactly(backend, ROTARY, x).bound
    return hold("token at position 0", came[:, :, :1], x[:, :, :1], bound[:, :, :1])


@about(ROTARY, id="rotary_alike", formula="x_bh = x_00 ⟹ R(x)_bh = R(x)_00", source=f"{SU}, eq. 13", catches="N4")
def rotary_alike(backend: Backend, problem: Problem) -> float:
    """All heads and samples are turned alike: the position is the place in the sequence, not the head's or sample's."""
    x = heads(problem)
    batch, count, *_ = x.shape
    require(batch > 0 and count > 0 and batch * count > 1)
    x = np.array(np.broadcast_to(x[:1, :1], x.shape))
    came, bound = like(backend, ROTARY, x), exactly(backend, ROTARY, x).bound
    return _twice(came, np.broadcast_to(came[:1, :1], came.shape), bound, "token of each head and sample")


@about(
    ROTARY,
    id="rotary_partial",
    formula="R(x)[:rotary_dim] = R(x[:rotary_dim]), R(x)[rotary_dim:] = x[rotary_dim:]",
    source="Black et al. 2022, GPT-NeoX-20B, section 2.1: rotary embeddings on the first 25 % of the features",
    catches="N6",
)
def rotary_partial(backend: Backend, problem: Problem) -> float:
    """A partial rotation turns the first features as if they were all, and leaves the rest as they are."""
    x = np.array(problem.query)
    require(bool(taking(backend, "rotary_dim", ROTARY)) and x.shape[-1] > 2)
    return hold_like(backend, ROTARY, x, rotary_dim=max(x.shape[-1] // 4 * 2, 2))


@about(
    ROTARY,
    id="rotary_padded",
    formula="R(x, positions p)[pad:] = R(x[pad:], positions 0, 1, …)",
    source=f"{SU}, eq. 16: the position is that in the sequence",
    catches="N21 O8 O16",
)
def rotary_padded(backend: Backend, problem: Problem) -> float:
    """With positions of its own, a sample that is padded on the left is turned as it is without padding."""
    x = heads(problem)
    batch, _, length, _ = x.shape
    require(bool(taking(backend, "positions", ROTARY)) and length > 1 and batch > 0)
    pads = problem.rng.permutation(batch) % length + (batch == 1)
    positions = np.maximum(np.arange(length) - pads[:, None], 0)  # (B, L)
    alone = np.stack([np.roll(sample, -pad, axis=1) for sample, pad in zip(x, pads, strict=True)])
    padded, plain = like(backend, ROTARY, x, positions=positions), like(backend, ROTARY, alone)
    bound, ratios = exactly(backend, ROTARY, x, positions=positions).bound, [0.0]
    for b, pad in enumerate(pads):
        came, wanted, limit = padded[b, :, pad:], plain[b, :, : length - pad], bound[b, :, pad:]
        ratios.append(_twice(came, wanted, limit, f"sample {b} with {pad} tokens of padding"))
    last = like(backend, ROTARY, np.array(x[:, :, -1:]), positions=np.array(positions[:, -1:]))
    return max(*ratios, _twice(last, padded[:, :, -1:], bound[:, :, -1:], "last token by itself"))


@about(
    ENCODING,
    ROTARY,
    id="history",
    formula="f(x, offset a), f(x, offset b), f(x, offset a): each as if it were the first",
    source=FUNCTION,
    catches="N1",
)
def history(backend: Backend, problem: Problem) -> float:
    """Calls with other offsets before it do not change a result."""
    calls = itertools.product(taking(backend, "offset", ENCODING, ROTARY), (later(problem), 5, later(problem)))
    return max(hold_like(backend, name, given(name, problem), offset=offset) for name, offset in calls)


@about(
    ENCODING,
    ROTARY,
    id="steps",
    formula="f(x, offset o) = (f(x[:L−1], offset o), f(x[L−1:], offset o + L − 1))",
    source="Shazeer 2019, Fast Transformer Decoding, section 2.4: one position at a time",
    catches="N5",
)
def steps(backend: Backend, problem: Problem) -> float:
    """Tokens that come one after the other, each with its offset, get what they get all together."""
    ratios, offset = [], later(problem)
    for name in taking(backend, "offset", ENCODING, ROTARY):
        x = given(name, problem)
        cut = x.shape[-2] - 1
        require(cut > 0)
        whole, bound = like(backend, name, x, offset=offset), exactly(backend, name, x, offset=offset).bound
        for where, start in ((np.s_[..., :cut, :], 0), (np.s_[..., cut:, :], cut)):
            came = like(backend, name, np.array(x[where]), offset=offset + start)
            ratios.append(_twice(came, whole[where], bound[where], f"{name} from token {start} on"))
    return max(ratios)


@about(
    ENCODING,
    ROTARY,
    BIAS,
    id="inputs_unchanged",
    formula="arguments after the call = arguments before it",
    source=FUNCTION,
)
def inputs_unchanged(backend: Backend, problem: Problem) -> float:
    """No function of positions changes an array that it is given."""
    for name in filter(lambda name: backend.supports(frozenset({name})), (ENCODING, ROTARY, BIAS)):
        arguments = distances(problem) if name == BIAS else (given(name, problem),)
        function, natives = prepared(backend, name, *arguments)
        with unchanged(backend, {f"the input of {name}": natives[0]}), backend.guarded(frozenset({name})):
            backend.arrays.synchronize(function(*natives))
    return 0.0


HEADS = (*range(1, 17), 20, 24, 32, 40, 66, 112)
"""Powers of two and not; 66 and 112 as in released models."""


@about(
    SLOPES,
    id="alibi_slopes",
    formula="n a power of two: slope_i = 2^(−8i/n); else those of the power below, then every other of the one above",
    source=f"{PRESS}, and its authors' code for other n",
    catches="N7 N8",
)
def alibi_slopes(backend: Backend, problem: Problem) -> float:
    """ALiBi's slopes are those of its paper for each number of heads, whatever numbers were asked for before."""
    return max(hold_slopes(backend, int(count)) for count in problem.rng.permutation(HEADS))


def distances(problem: Problem) -> tuple[Any, ...]:
    """table (H, 2R+1), L, S; R may be more or less than either."""
    _, count, _, queries, keys, *_ = problem.shape
    reach = int(problem.rng.randint(1, 1 + max(queries, keys, 1)))
    table = problem.rng.standard_normal((count, 2 * reach + 1)).astype(problem.query.dtype)
    return table, queries, keys


@about(BIAS, id="relative_bias", formula="bias_hij = table_h,clip(j − i, −R, R)", source=SHAW, catches="N13 N14")
def relative_bias(backend: Backend, problem: Problem) -> float:
    """The relative bias of a query and a key is the table's entry for their distance, ahead as well as behind."""
    return hold_bias(backend, *distances(problem))
