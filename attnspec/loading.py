"""From a target to a backend: its function under its declaration, on a device of its array library."""

import dataclasses
import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from attnspec.errors import Unavailable, modules_of, telling
from attnspec.specs.contract import (
    FUNCTIONS,
    TRANSFORMS,
    Declaration,
    claimed_options,
    device_and_id,
    nearest,
    read_declaration,
)
from attnspec.targets import Target, exists, find, importable, label, short_name

if TYPE_CHECKING:
    from attnspec.specs.backend import Backend


def load(target: Target, *, device: str | None = None, dtypes: Iterable[str] = ()) -> "Backend":
    """The backend that ``target`` names: an in-tree name, a .py file, a dotted module, or a module.

    ``device`` is the array library's first unless given; ``dtypes`` narrows those it declares.
    ValueError in one line for whatever is wrong with it, Unavailable if something is not installed or not present.
    """
    from attnspec.specs.backend import Backend

    module, name = find(target), short_name(target)
    with telling(label(target)):
        function = _attention(vars(module))
        declaration = _narrowed(_declaration(vars(module)), tuple(dtypes))
        with importable(_folder(module)):
            arrays = binding(declaration.arrays)
        others = {each: vars(module)[each] for each in FUNCTIONS if callable(vars(module).get(each))}
        where = device_of(device, declaration, arrays)
        kernels = _kernels(vars(module))
        return Backend(name, function, declaration.on(where), arrays, where, others, kernels)


def _folder(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).parent if file else None


def _attention(constants: dict[str, Any]) -> Callable[..., Any]:
    if "attention" not in constants:
        raise ValueError("wanted a function `attention`, came a module without one")
    function = constants["attention"]
    if not callable(function):
        raise ValueError(f"attention: wanted a function, came {type(function).__name__}")
    claimed_options(function)
    checked: Callable[..., Any] = function
    return checked


def _kernels(constants: dict[str, Any]) -> Callable[..., Any] | None:
    """The function that tells which kernels ran, without which a KERNEL could not be proven."""
    kernels = constants.get("kernels")
    if not callable(kernels) and (kernels is not None or "KERNEL" in constants):
        raise ValueError(f"kernels: wanted a function that tells what ran, came {type(kernels).__name__}")
    checked: Callable[..., Any] | None = kernels
    return checked


def _declaration(constants: dict[str, Any]) -> Declaration:
    declaration = read_declaration(constants)
    if declaration.known_issues:
        from attnspec.specs.catalogue import catalogue  # takes time, and few declare issues

        check_issues((issue for issue in declaration.known_issues if "." in issue), catalogue())
    return declaration


def check_issues(issues: Iterable[str], known: Iterable[str]) -> None:
    """ValueError for a known issue that is not the id of an invariant, of a device or not."""
    names = list(known)
    for _, issue in map(device_and_id, issues):
        if issue not in names:
            raise ValueError(f"KNOWN_ISSUES: wanted ids of invariants, came {issue!r}{nearest(issue, names)}")


def _narrowed(declaration: Declaration, dtypes: tuple[str, ...]) -> Declaration:
    for dtype in dtypes:
        if dtype not in declaration.dtypes:
            raise ValueError(f"dtype: wanted one of those declared, {', '.join(declaration.dtypes)}, came {dtype!r}")
    return dataclasses.replace(declaration, dtypes=dtypes or declaration.dtypes)


def binding(name: str) -> Any:
    """The binding of the array library ``name``: one of ours, or a module of the target's own that provides one."""
    ours = modules_of("attnspec.impls.arrays")
    if name in ours:
        return importlib.import_module(f"attnspec.impls.arrays.{name}")
    if not exists(name):
        raise ValueError(f"ARRAYS: wanted one of {', '.join(ours)}, or a module that provides a binding, came {name!r}")
    return _bound(name, importlib.import_module(name))


def _bound(name: str, module: ModuleType) -> ModuleType:
    """The module, if it has all that a binding needs; a transformation counts only where TRANSFORMS names it."""
    from attnspec.specs.arrays import ArrayLibrary

    wanted = {member for member in vars(ArrayLibrary) | ArrayLibrary.__annotations__ if not member.startswith("_")}
    optional = set(TRANSFORMS) - set(getattr(module, "TRANSFORMS", ()))
    missing = sorted(member for member in wanted - optional if not hasattr(module, member))
    if missing:
        raise ValueError(f"ARRAYS: wanted a module with {', '.join(missing)}, came {name!r} without")
    return module


def device_of(asked: str | None, declaration: Declaration, arrays: Any) -> str:
    """The device asked for, or the first; ValueError for one not declared, Unavailable for one that is not here."""
    here = tuple(arrays.devices())
    allowed = tuple(device for device in here if declaration.devices is None or device in declaration.devices)
    declared = ", ".join(declaration.devices or ())
    machine = f"a machine where {declaration.arrays} has {', '.join(here)}"
    if asked is not None and asked not in here:
        raise Unavailable(f"device: wanted {asked!r}, came {machine}")
    if asked is not None and asked not in allowed:
        raise ValueError(f"device: wanted one of those declared, {declared}, came {asked!r}")
    if not allowed:
        raise Unavailable(f"DEVICES: wanted {declared}, came {machine}")
    return asked or allowed[0]
