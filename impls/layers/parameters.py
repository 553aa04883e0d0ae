"""Parameters as a flat dict with dotted names, as in the state dicts of PyTorch: checked, and cut down to a part."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from array_api_compat import array_namespace, device, is_array_api_obj

Array = Any
"""An array of any library that has the array API standard."""

Shape = tuple[int, ...]


def within(parameters: Mapping[str, Array], name: str) -> dict[str, Array]:
    """The parameters of the part called ``name``, under the names that the part itself gives them."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): array for key, array in parameters.items() if key.startswith(prefix)}


def check(call: str, parameters: Mapping[str, Array], shapes: Mapping[str, Shape], inputs: Sequence[Array]) -> None:
    """ValueError that lists everything that is wrong with the parameters, or with the inputs beside them."""
    if not isinstance(parameters, Mapping):
        raise ValueError(f"{call}: wanted a dict of parameters, came a {type(parameters).__name__}")
    named = {**{f"input {i}": x for i, x in enumerate(inputs)}, **parameters}
    wrong = [f"wanted an array, came a {type(x).__name__} ({n})" for n, x in named.items() if not is_array_api_obj(x)]
    wrong = wrong or [*_wrong_names(parameters, shapes), *_wrong_shapes(parameters, shapes)] or list(mixed(named))
    if wrong:
        raise ValueError(f"{call}: {'; '.join(wrong)}")


def _wrong_names(parameters: Mapping[str, Array], shapes: Mapping[str, Shape]) -> Iterator[str]:
    missing = [name for name in shapes if name not in parameters]
    superfluous = [name for name in parameters if name not in shapes]
    if missing:
        yield f"wanted parameters that did not come: {', '.join(missing)}"
    if superfluous:
        yield f"came parameters that are not wanted: {', '.join(superfluous)}"


def _wrong_shapes(parameters: Mapping[str, Array], shapes: Mapping[str, Shape]) -> Iterator[str]:
    for name, wanted in shapes.items():
        if name in parameters and tuple(parameters[name].shape) != tuple(wanted):
            yield f"{name}: wanted shape {tuple(wanted)}, came {tuple(parameters[name].shape)}"


def mixed(arrays: Mapping[str, Array]) -> Iterator[str]:
    """Array libraries, dtypes and devices, where there is more than one; inputs that are not floating may differ."""
    floating = {name: x for name, x in arrays.items() if _is_floating(x)}
    yield from _several("array library", {name: array_namespace(x).__name__ for name, x in arrays.items()})
    yield from _several("dtype", {name: str(x.dtype) for name, x in floating.items()})
    devices = {name: device(x) for name, x in arrays.items()}
    yield from _several("device", {name: str(where) for name, where in devices.items() if where is not None})


def _is_floating(x: Array) -> bool:
    return bool(array_namespace(x).isdtype(x.dtype, "real floating"))


def _several(what: str, kinds: Mapping[str, str]) -> Iterator[str]:
    firsts: dict[str, str] = {}
    for name, kind in kinds.items():
        firsts.setdefault(kind, name)
    if len(firsts) > 1:
        yield f"wanted one {what}, came " + " and ".join(f"{kind} ({name})" for kind, name in firsts.items())
