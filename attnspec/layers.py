"""``attnspec verify --layers``: layers over an array library, ours or a module's own, and their invariants."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from attnspec.errors import Unavailable, modules_of, not_installed, one_of, telling
from attnspec.loading import binding, check_issues, device_of
from attnspec.specs.contract import Declaration, read_declaration
from attnspec.specs.layers.case import cases
from attnspec.specs.layers.catalogue import layer_catalogue, verify_layers
from attnspec.specs.layers.library import NAMES, Library
from attnspec.specs.outcome import Outcome
from attnspec.specs.verify import matching, strict
from attnspec.targets import exists, find, importable, is_path, short_name
from attnspec.verdict import Row

DTYPES = tuple(dict.fromkeys(case.dtype for case in cases()))


def expected(patterns: tuple[str, ...] | list[str]) -> list[str]:
    """The ids of layers' invariants that the patterns choose, all without any. ValueError if one matches nothing."""
    for pattern in patterns:
        if not matching([pattern], layer_catalogue()):
            one_of("invariant of layers", pattern, layer_catalogue())
    return matching(patterns, layer_catalogue())


def load(target: str, device: str | None, notice: Callable[[], None] = lambda: None) -> Library:
    """The layers that ``target`` names: ours over an array library, or those of a .py file or a dotted module.

    ``notice`` is told before each call. ValueError in one line for whatever is wrong with it, Unavailable if something
    is not installed.
    """
    module, name = _module(target), short_name(target)
    with telling(target):
        arrays_name = target if target in modules_of("attnspec.impls.arrays") else getattr(module, "ARRAYS", None)
        if not isinstance(arrays_name, str):
            raise ValueError("ARRAYS: wanted the name of an array library, came a module without")
        if not any(hasattr(module, offered) for offered in NAMES):
            raise ValueError(f"layers: wanted a module with one at least of {', '.join(NAMES)}, came one without")
        file = getattr(module, "__file__", None)
        with importable(Path(file).parent if file else None):
            arrays = binding(arrays_name)
        found = declared(module, arrays_name)
        return Library(name, module, arrays, device_of(device, found, arrays), notice=notice)


def declared(module: ModuleType, arrays: str) -> Declaration:
    """DEVICES and KNOWN_ISSUES of the module. ValueError for a known issue that is no invariant of layers."""
    constants = {name: value for name, value in vars(module).items() if name in ("DEVICES", "KNOWN_ISSUES")}
    declaration = read_declaration({"ARRAYS": arrays, **constants})
    check_issues(declaration.known_issues, layer_catalogue())
    return declaration


def known_issues(library: Library) -> Mapping[str, str]:
    """The known issues that the module declares for the library's device, by the ids of the invariants."""
    return declared(library.module, library.name).on(library.device).known_issues


def _module(target: str) -> ModuleType:
    ours = modules_of("attnspec.impls.arrays")
    if target in ours:
        try:
            written_for = tuple(importlib.import_module("attnspec.impls.layers.library").TESTS)
        except ModuleNotFoundError as error:
            raise Unavailable(f"{target}: {not_installed('array-api-compat', 'layers')}") from error
        if target not in written_for:
            raise ValueError(f"{target}: wanted one that our layers run on ({', '.join(written_for)}), came another")
        return importlib.import_module("attnspec.impls.layers")
    with importable(Path.cwd()):
        if not is_path(target) and not exists(target):
            wanted = f"an array library ({', '.join(ours)}), a .py file or a dotted module"
            raise ValueError(f"{target}: wanted {wanted}, came none of these")
    return find(target)


def about(library: Library) -> dict[str, Any]:
    """The library in plain values, as for a backend."""
    return {
        "name": library.name,
        "library": library.arrays.__name__.rpartition(".")[2],  # type: ignore[attr-defined]
        "version": library.arrays.version(),
        "device": library.device,
        "devices": list(library.arrays.devices()),
        "dtypes": list(DTYPES),
        "known_issues": dict(known_issues(library)),
    }


def row_of(outcome: Outcome) -> Row:
    """The outcome as a row."""
    says = layer_catalogue()[outcome.invariant].sentence
    numbers = (outcome.problems, outcome.seconds, outcome.worst)
    return Row(outcome.invariant, outcome.status, says, *numbers, outcome.reason)


def rows(library: Library, request: dict[str, Any]) -> Iterator[Row]:
    """A row for each invariant that the request asks for."""
    issues = known_issues(library)
    for outcome in verify_layers(library, expected(request["patterns"]), request["dtypes"], request["seed"]):
        yield row_of(strict(issues, outcome, lenient=bool(request["dtypes"])))


def check_dtypes(dtypes: tuple[str, ...]) -> None:
    """ValueError for a dtype that layers are not tried in."""
    for dtype in dtypes:
        one_of("dtype of layers", dtype, DTYPES)
