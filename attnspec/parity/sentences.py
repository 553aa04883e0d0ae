"""Sentence embeddings of the MiniLM that a package brings along, and ours: weights that were trained."""

import os
from typing import Any

import torch

from attnspec.impls.models import minilm
from attnspec.parity.case import Case, Convert, converted
from attnspec.parity.modules import case_of

SENTENCES = ("The animal didn't cross the street", "it was too tired")

EVERY = 32
"""Of the 384 numbers of an embedding, the bound is computed for one in so many."""


def build(name: str) -> Case:
    """The case: mean of the last states over the tokens, brought to length 1."""
    import transformers

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    transformers.utils.logging.disable_progress_bar()
    module = transformers.BertModel.from_pretrained(minilm.folder(), attn_implementation="eager").double().eval()
    ids, mask = minilm.token_ids(SENTENCES)
    parameters = minilm.parameters("numpy", "float64")

    def compute() -> list[Any]:
        shown = torch.from_numpy(mask)
        states = module(torch.from_numpy(ids), attention_mask=shown.long()).last_hidden_state
        mean = (states * shown[:, :, None]).sum(1) / shown.sum(1)[:, None]
        return [(mean / torch.sqrt((mean * mean).sum(1, keepdim=True)))[:, ::EVERY]]

    def ours(convert: Convert) -> list[Any]:
        return [minilm.embed(converted(parameters, convert), convert(ids), convert(mask))[:, ::EVERY]]

    return case_of(compute, ours)
