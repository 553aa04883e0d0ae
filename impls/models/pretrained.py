"""Parameters from the state dicts of the ``transformers`` package, and back: names change, numbers do not."""

import re
from collections.abc import Mapping

from attnspec.impls.layers.parameters import Array
from attnspec.impls.models.model import Model

BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")
"""What older checkpoints hold besides parameters: numbers counted up, zeros."""


def load_pretrained(model: Model, state: Mapping[str, Array], prefix: str = "") -> dict[str, Array]:
    """The parameters of ``model`` out of a state dict, the arrays themselves and not copies.

    prefix: where the model is inside of another, such as "bert." in BertForMaskedLM; what is elsewhere is left.
    ValueError that lists all names that are missing, superfluous or of another shape.
    """
    inside = {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}
    theirs = {their_name(model, name): name for name in model.shapes()}
    wrong = [f"missing {prefix}{name}" for name in theirs if name not in inside]
    wrong += [f"superfluous {prefix}{name}" for name in inside if name not in theirs and name not in BUFFERS]
    for name, shape in model.shapes().items():
        array = inside.get(their_name(model, name))
        if array is not None and tuple(array.shape) != shape:
            wrong.append(f"{prefix}{their_name(model, name)} is {tuple(array.shape)}, wanted {shape}")
    if wrong:
        raise ValueError(f"load_pretrained: wanted a state dict of {type(model).__name__}, came {'; '.join(wrong)}")
    return {ours: inside[name] for name, ours in theirs.items()}


def to_pretrained(model: Model, parameters: Mapping[str, Array], prefix: str = "") -> dict[str, Array]:
    """The state dict that ``load_pretrained`` takes back. ValueError for names that the model does not have."""
    known = model.shapes()
    unknown = [name for name in parameters if name not in known]
    if unknown:
        raise ValueError(f"to_pretrained: wanted parameters of {type(model).__name__}, came {', '.join(unknown)}")
    return {prefix + their_name(model, name): array for name, array in parameters.items()}


def their_name(model: Model, name: str) -> str:
    """The name of our parameter ``name`` in the package: that of its module, with the same numbers, and its own."""
    module, _, own = name.rpartition(".")
    numbers = re.findall(r"(?<=\.)\d+(?=\.|$)", module)
    template = re.sub(r"(?<=\.)\d+(?=\.|$)", "{}", module)
    return f"{model.NAMES[template].format(*numbers)}.{own}"
