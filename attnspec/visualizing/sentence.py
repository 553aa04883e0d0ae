"""A sentence in MiniLM: its tokens, and for every layer and head how much each attends to each."""

import importlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnspec.impls.models import minilm
from attnspec.specs.contract import nearest

LONGEST = 128
"""Tokens in a picture; the model itself takes more."""

SPECIAL = ("[CLS]", "[SEP]")
UNKNOWN = "[UNK]"


@dataclass(frozen=True)
class Sentence:
    """What is drawn: tokens, weights (layers, heads, n, n), and how many tokens were too many."""

    text: str
    tokens: list[str]
    weights: NDArray[Any]
    left_out: int

    def rows_of(self, token: str, nth: int = 1) -> list[int]:
        """Where ``token`` is, its nth occurrence: all pieces of a word, or one piece. ValueError if it is not there."""
        places = self._words(token) or [[i] for i, piece in enumerate(self.tokens) if piece == token.lower()]
        if not places:
            raise ValueError(f"--token: wanted one of {self._known()}, came {token!r}{nearest(token, self.tokens)}")
        if not 1 <= nth <= len(places):
            raise ValueError(f"--nth: wanted 1 to {len(places)}, as often as {token!r} occurs, came {nth}")
        return places[nth - 1]

    def _words(self, token: str) -> list[list[int]]:
        """The pieces of each word that the tokens of ``token`` spell."""
        wanted = minilm.tokenizer().encode(token, add_special_tokens=False).tokens
        if UNKNOWN in wanted:  # it stands for any word without a piece
            return []
        found, count = [], len(wanted)
        for start in range(len(self.tokens) - count + 1 if wanted else 0):
            ends = start + count == len(self.tokens) or not self.tokens[start + count].startswith("##")
            if self.tokens[start : start + count] == wanted and ends:
                found.append(list(range(start, start + count)))
        return found

    def _known(self) -> str:
        shown = ", ".join(token for token in self.tokens if token not in SPECIAL)
        return shown if len(shown) <= 200 else f"{shown[:200]}…"


@dataclass
class Recorder:
    """An attention core that keeps the weights of every call: those of a layer, (B, heads, n, n)."""

    arrays: str
    kept: list[Any] = field(default_factory=list)

    def __call__(self, query: Any, key: Any, value: Any, *, mask: Any = None, **options: Any) -> Any:
        """The output of the array library's reference."""
        attention = importlib.import_module(f"attnspec.impls.{self.arrays}_naive").attention
        options = {name: option for name, option in options.items() if option}
        output, weights = attention(query, key, value, mask=mask, return_weights=True, **options)
        self.kept.append(weights)
        return output


def read(text: str, arrays: str) -> Sentence:
    """Run the model over ``text`` with the arrays of ``arrays``. ValueError for a text without tokens."""
    minilm.folder()  # before anything else: whether there is a model at all
    encoded = minilm.tokenizer().encode(text)
    if len(encoded.ids) <= len(SPECIAL):
        raise ValueError(f"visualize: wanted a sentence, came {text!r}, which has no tokens")
    ids, mask = minilm.token_ids([text], LONGEST)
    recorder = Recorder(arrays)
    model = replace(minilm.MODEL, attention=recorder)
    model(minilm.parameters(arrays), minilm.native(ids, arrays), mask=minilm.native(mask, arrays))
    to_numpy = importlib.import_module(f"attnspec.impls.arrays.{arrays}").to_numpy
    weights = np.stack([to_numpy(layer)[0] for layer in recorder.kept])
    tokens = [minilm.tokenizer().id_to_token(int(token)) for token in ids[0]]
    return Sentence(text, tokens, weights, len(encoded.ids) - ids.shape[1])
