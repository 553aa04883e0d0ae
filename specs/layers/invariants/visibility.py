"""Who sees what: masks, truncation, padding, causality, the source."""

import numpy as np

from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import either, layer_invariant, once
from attnspec.specs.layers.compare import differ, equal, same
from attnspec.specs.layers.invariants.order import encoder
from attnspec.specs.layers.library import Library, float64
from attnspec.specs.layers.rounded import exact
from attnspec.specs.layers.solution import defined, logits, make, make_transformer, token_ids


@layer_invariant(
    "masks",
    formula="[b, 0, 0, j]: j < length_b, or id_bj ≠ padding; causal [i, j]: j ≤ i",
    source="Vaswani et al. 2017, section 3.2.3",
    catches=("tensorflow/text#894",),
    suits=once,
)
def masks(library: Library, case: Case) -> float:
    """Masks of lengths and of token ids are True for tokens wherever they stand, the causal one up to the query."""
    lengths, keys = np.array([0, 3, 5]), np.arange(5)
    came = library.call(library.has("padding_mask"), lengths, 5)
    equal("padding_mask", came, (keys < lengths[:, None])[:, None, None, :])
    ids = np.array([[4, 0, 5, 0, 0], [0, 7, 8, 9, 1]])
    for padding in (0, 9):
        came = library.call(library.has("padding_mask_of_ids"), ids, padding)
        equal(f"padding_mask_of_ids, {padding}", came, (ids != padding)[:, None, None, :])
    came = library.call(library.has("causal_mask"), 5, case.tokens())
    return equal("causal_mask", came, keys <= keys[:, None])


@layer_invariant(
    "truncation",
    formula="right: ids[:, :m]; left: ids[:, −m:]; m ≥ n: ids",
    source="Devlin et al. 2019, BERT, appendix A.2: sequences are cut to what the positions allow",
    suits=once,
)
def truncation(library: Library, case: Case) -> float:
    """Truncation keeps the first or the last tokens, all of a shorter sequence, and none for length 0."""
    cut, ids = library.has("truncate"), case.ids("truncation", 11, 7)
    for length in (0, 1, 4, 7, 9):
        equal(f"right, {length}", library.call(cut, ids, length, "right"), ids[:, :length])
        equal(f"left, {length}", library.call(cut, ids, length, "left"), ids[:, 7 - min(length, 7) :])
    return 0.0


@layer_invariant(
    "padding",
    formula="encoder(x, mask) at real tokens = encoder(real tokens), whatever the padding holds",
    source="Vaswani et al. 2017, section 3.2.3",
    catches=("InseeFrLab/torchTextClassifiers#92",),
    suits=either,
)
def padding(library: Library, case: Case) -> float:
    """Padding anywhere in a batch changes nothing for the real tokens, neither its presence nor what it holds."""
    x, real = case.tokens(), np.array([[0, 2, 3], [1, 3, 4]])
    rows, mask = np.arange(2)[:, None], np.zeros((2, 1, 1, case.length), bool)
    mask[rows, 0, 0, real] = True
    alone = x[rows, real]
    layer, p, wanted = encoder(library, case, alone)
    ratios, short = [], library.call(layer, p, alone)
    for junk in (0.0, 50.0):
        filled = np.where(mask[:, 0, 0, :, None], x, np.asarray(junk, case.dtype))
        came = library.call(layer, p, filled, mask=mask)[rows, real]
        ratios.append(same(f"real tokens, padded with {junk:g}", case, came, short, wanted))
    mask[1] = False
    came = library.call(layer, p, x, mask=mask)[0, real[0]]
    ratios.append(same("real tokens beside a sequence of padding alone", case, came, short[0], wanted.of(0)))
    return max(ratios)


@layer_invariant(
    "padded_source",
    formula="transformer([source, padding, padding], target) = transformer(source, target)",
    source="Vaswani et al. 2017, section 3.2.3",
    catches=("NVIDIA/FasterTransformer#270", "keras-team/keras-io#1046"),
    suits=lambda case: case.norm_first,
)
def padded_source(library: Library, case: Case) -> float:
    """A source that is padded longer gives the same logits: encoder and cross-attention both leave the padding out."""
    model, (source, target) = make_transformer(library, case), token_ids(case)
    p = case.parameters(model.shapes())
    longer = np.concatenate([source, np.full((case.batch, 2), case.padding, source.dtype)], axis=1)
    wanted = logits(source, target, float64(p), case)
    return same("logits", case, library.call(model, p, longer, target), library.call(model, p, source, target), wanted)


@layer_invariant(
    "causality",
    formula="logits[:, i] depend on target[:, j] exactly for j ≤ i",
    source="Vaswani et al. 2017, section 3.1: predictions for i depend only on outputs at positions less than i",
    catches=("alex-matton/causal-transformer-decoder#1", "huggingface/transformers#48745"),
    suits=either,
)
def causality(library: Library, case: Case) -> float:
    """End to end, a target token changes its own logits and the later ones, and none before it."""
    model, (source, target) = make_transformer(library, case), token_ids(case)
    p, ratios = case.parameters(model.shapes()), []
    wanted, plain = logits(source, target, float64(p), case), library.call(model, p, source, target)
    for j in range(case.length):
        other = target.copy()
        other[:, j] = target[:, j] % 8 + 1
        came = library.call(model, p, source, other)
        for i in range(j, case.length):
            differ(f"logits {i} with another token {j}", came[:, i], plain[:, i], wanted.at(i))
        before = wanted.at(slice(j))
        ratios.append(same(f"logits before token {j}", case, came[:, :j], plain[:, :j], before))
    return max(ratios)


@layer_invariant(
    "whole_source",
    formula="decoder(x, memory)[:, i] depends on memory[:, j] for all i and j",
    source="Vaswani et al. 2017, section 3.2.3: every position in the decoder attends over all of the input",
    catches=("keras-team/keras-io#1046",),
    suits=once,
)
def whole_source(library: Library, case: Case) -> float:
    """Cross-attention reads the whole source: each of its tokens changes every output of the decoder."""
    x, memory = case.tokens(), case.tokens("memory", case.source)
    layer = library.make("Decoder", make(library, "DecoderLayer", case), 1)
    p, given = case.parameters(layer.shapes()), exact(x, case.dtype)
    wanted = defined("Decoder", given, given.like(memory), float64(p), case, 1)
    plain = library.call(layer, p, x, memory)
    for j in range(case.source):
        other = memory.copy()
        other[:, j] += 1 + np.arange(case.width) % 3  # LayerNorm would hide a shift of all features alike
        came = library.call(layer, p, x, other)
        for i in range(case.length):
            differ(f"output {i} with another source {j}", came[:, i], plain[:, i], wanted.at(i))
    return 0.0
