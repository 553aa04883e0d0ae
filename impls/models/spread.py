"""A batch in pieces over threads, for NumPy: of its operations only the matrix product takes more than one.

A piece is small enough that its states stay in the cache from one operation to the next.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnspec.impls.blockwise.threads import workers
from attnspec.impls.layers.library import library
from attnspec.impls.layers.parameters import Array
from attnspec.impls.models.model import Model

PIECE = 512
"""Tokens in a piece, about; a batch of no more is left whole."""


def spread(model: Model, parameters: Mapping[str, Array], ids: Array, *, mask: Array) -> Array:
    """``model(parameters, ids, mask=mask)``, NumPy's sequences (B, n) some at a time: (B, n, width)."""
    if library(ids) != "numpy" or ids.size <= PIECE:
        return model(parameters, ids, mask=mask)

    def run(rows: Any) -> Array:
        return model(parameters, ids[rows], mask=mask[rows])

    each = max(1, PIECE // ids.shape[1])
    pieces = [slice(start, start + each) for start in range(0, ids.shape[0], each)]
    with workers(True) as over:
        return np.concatenate(list(over(run, pieces)))
