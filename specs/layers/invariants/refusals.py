"""Bad input: one ValueError that names what is wrong."""

import numpy as np

from attnspec.specs.catalogue import Violation
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import layer_invariant, once
from attnspec.specs.layers.library import Library
from attnspec.specs.layers.solution import make


@layer_invariant(
    "refuses_batch",
    formula="x (B, n, E) with a source (B', S, E), B' ≠ B: ValueError",
    source="Vaswani et al. 2017, section 3.2.3: the queries of a sequence read the memory of that sequence",
    suits=once,
)
def refuses_batch(library: Library, case: Case) -> float:
    """Another number of source sequences than of sequences is refused, one of them too."""
    layer = library.make("MultiHead", case.width, case.heads)
    p, x, source = case.parameters(layer.shapes()), case.tokens(), case.tokens("source", case.source)
    library.refusal(layer, p, x, source=source[:1])
    library.refusal(layer, p, x[:1], source=source)
    return 0.0


@layer_invariant(
    "refuses_past",
    formula="step of x (B, n, E) after B' ≠ B sequences: ValueError",
    source="Shazeer 2019, section 2.4: keys and values of the same sequences are kept",
    suits=once,
)
def refuses_past(library: Library, case: Case) -> float:
    """Next tokens of another number of sequences than those whose keys and values are kept are refused."""
    layer = library.make("MultiHead", case.width, case.heads)
    p, x, step = case.parameters(layer.shapes()), case.tokens(), library.method(layer, "step")
    for before, after in ((x[:1], x), (x, x[:1])):
        past = library.call(step, p, before)[1]
        library.refusal(step, p, after, past)
    return 0.0


@layer_invariant(
    "refuses_mask",
    formula="mask (B, n) with 1 < B ≠ n, or of other B, n or S: ValueError",
    source="the array API standard: broadcasting aligns axes from the last on",
    suits=once,
)
def refuses_mask(library: Library, case: Case) -> float:
    """A mask of sequences by keys is not taken for one of queries by keys, nor one of other sizes for one that fits."""
    layer = library.make("MultiHead", case.width, case.heads)
    p, x, (batch, n) = case.parameters(layer.shapes()), case.tokens(), (case.batch, case.length)
    for shape in ((batch, n), (batch + 1, 1, 1, n), (n, n + 1), (batch, 1, n + 1, n)):
        library.refusal(layer, p, x, mask=np.ones(shape, bool))
    return 0.0


@layer_invariant(
    "refuses_lengths",
    formula="length < 0 or length > n: ValueError",
    source="a sequence of n tokens has from 0 to n that are no padding",
    suits=once,
)
def refuses_lengths(library: Library, case: Case) -> float:
    """Lengths below 0 and above the number of tokens give no padding mask, nor do lengths that are no integers."""
    mask = library.has("padding_mask")
    for lengths in (np.array([3, -1]), np.array([3, case.length + 1]), np.array([3.0, 2.0])):
        library.refusal(mask, lengths, case.length)
    return 0.0


@layer_invariant(
    "refuses_length",
    formula="n > rows of the table: ValueError",
    source="Gehring et al. 2017, section 3.1",
    catches=("bentrevett/pytorch-seq2seq#89",),
    suits=once,
)
def refuses_length(library: Library, case: Case) -> float:
    """A sequence longer than the table of positions is refused, also when an offset makes it so or is negative."""
    layer = library.make("LearnedPositions", case.length, case.width)
    p = case.parameters(layer.shapes())
    library.refusal(layer, p, case.tokens(length=case.length + 1))
    for offset in (1, -1, -case.length):
        library.refusal(layer, p, case.tokens(), offset=offset)
    return 0.0


@layer_invariant(
    "refuses_ids",
    formula="id < 0 or id ≥ count: ValueError",
    source="an embedding has a row for each of its tokens",
    suits=once,
)
def refuses_ids(library: Library, case: Case) -> float:
    """Unknown token ids, negative ones and such that are no integers are refused."""
    layer = library.make("Embedding", 11, case.width)
    p = case.parameters(layer.shapes())
    for ids in (np.array([[1, 11]]), np.array([[-1, 2]]), np.array([[1.0, 2.0]])):
        library.refusal(layer, p, ids)
    return 0.0


@layer_invariant(
    "refuses_parameters",
    formula="missing, superfluous or misshapen parameters: one ValueError that lists all",
    source="torch.nn.Module.load_state_dict",
    suits=once,
)
def refuses_parameters(library: Library, case: Case) -> float:
    """Parameters that are missing, superfluous or of a wrong shape are all named in one error."""
    layer = make(library, "EncoderLayer", case)
    p = case.parameters(layer.shapes())
    missing, misshapen = ("attention.query.weight", "feed_forward_norm.bias"), "feed_forward.inner.weight"
    for name in missing:
        del p[name]
    p |= {"attention.extra": p["attention.key.bias"], misshapen: p[misshapen].T.copy()}
    told = library.refusal(layer, p, case.tokens())
    unnamed = [name for name in (*missing, misshapen, "attention.extra") if name not in told]
    if unnamed:
        raise Violation(f"the error: wanted it to name {', '.join(unnamed)}, came {told!r}")
    return 0.0


@layer_invariant(
    "refuses_mixtures",
    formula="parameters or inputs of several dtypes: ValueError",
    source="torch and the array API standard leave mixed dtypes open",
    suits=once,
)
def refuses_mixtures(library: Library, case: Case) -> float:
    """Parameters of two dtypes, and an input of another dtype than the parameters, are refused."""
    layer = make(library, "EncoderLayer", case)
    p = case.parameters(layer.shapes())
    library.refusal(layer, {**p, "attention_norm.bias": p["attention_norm.bias"].astype("float32")}, case.tokens())
    library.refusal(layer, p, case.tokens().astype("float32"))
    return 0.0


@layer_invariant(
    "refuses_width",
    formula="x (B, n, E') with E' ≠ E, or without B: ValueError",
    source="a layer has one width",
    suits=once,
)
def refuses_width(library: Library, case: Case) -> float:
    """Inputs of another width, or of another number of axes, are refused."""
    layer = make(library, "EncoderLayer", case)
    p = case.parameters(layer.shapes())
    library.refusal(layer, p, case.tokens(width=case.width + 1))
    library.refusal(layer, p, case.tokens()[0])
    return 0.0
