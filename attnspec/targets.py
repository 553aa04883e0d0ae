"""From a target (a backend's name, a file, a dotted module) to a module."""

import contextlib
import fnmatch
import importlib
import importlib.util
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

from attnspec.errors import modules_of, telling
from attnspec.specs.contract import nearest

Target = str | Path | ModuleType


def find(target: Target) -> ModuleType:
    """The module that ``target`` names, imported. ValueError in one line if there is none or it does not import."""
    if isinstance(target, ModuleType):
        return target
    if is_path(target):
        return _from_file(Path(target))
    if target in backend_names():
        with telling(str(target)):
            return importlib.import_module(_home(str(target)))
    return _from_name(str(target))


def backend_names() -> tuple[str, ...]:
    """The in-tree backends: our own and the peers."""
    return (*own_names(), *peer_names())


def own_names() -> tuple[str, ...]:
    """Every module of ``attnspec.impls`` that is not a package: the references, and what they are compared with."""
    return modules_of("attnspec.impls")


def peer_names() -> tuple[str, ...]:
    """Every module of ``attnspec.impls.peers`` that is not a package: attention as others wrote it."""
    return modules_of("attnspec.impls.peers")


def expanded(targets: Iterable[str]) -> tuple[str, ...]:
    """The targets, with what it matches in the place of a pattern such as "flax_*" or "attnspec.mutants.*".

    ValueError for a pattern that matches none.
    """
    found: list[str] = []
    for target in targets:
        names = _matching(target) if "*" in target else [target]
        if not names:
            hint = nearest(target.strip("*"), backend_names(), "; see attnspec list")
            raise ValueError(f"{target}: wanted a pattern that a backend's name matches, came one for none{hint}")
        found += [name for name in names if name not in found or "*" not in target]
    return tuple(found)


def _matching(pattern: str) -> list[str]:
    """The backends that the pattern matches, or the modules of the package before its last dot."""
    package, _, last = pattern.rpartition(".")
    if "*" in package or not package or not exists(package):
        return fnmatch.filter(backend_names(), pattern)
    with telling(pattern):
        return [f"{package}.{name}" for name in fnmatch.filter(modules_of(package), last)]


def _home(name: str) -> str:
    """The module of the in-tree backend ``name``."""
    return f"attnspec.impls.{'peers.' if name in peer_names() else ''}{name}"


def short_name(target: Target) -> str:
    """What reports call the target: a file's stem, a module's last part."""
    if isinstance(target, ModuleType):
        target = getattr(target, "__file__", None) or target.__name__
    return Path(target).stem if is_path(target) else str(target).rpartition(".")[2]


def names_of(targets: Sequence[str]) -> list[str]:
    """What tables call the targets: their short names, or what was typed where two have the same."""
    return told_apart([short_name(target) for target in targets], targets)


def told_apart(names: Sequence[str], targets: Sequence[str]) -> list[str]:
    """The names, and in place of those that several have the targets."""
    return [name if names.count(name) == 1 else target for name, target in zip(names, targets, strict=True)]


def label(target: Target) -> str:
    """What messages call the target: what was typed, or a module's name."""
    return target.__name__ if isinstance(target, ModuleType) else str(target)


def exists(name: str) -> bool:
    """Whether the first part of a dotted name can be imported."""
    root = name.partition(".")[0]
    return root.isidentifier() and (root in sys.modules or importlib.util.find_spec(root) is not None)


def is_path(target: str | Path) -> bool:
    """Whether a target is written as a file's path."""
    text = os.fspath(target)
    return isinstance(target, Path) or text.endswith(".py") or os.sep in text or "/" in text


def _from_file(given: Path) -> ModuleType:
    if not given.exists():
        raise ValueError(f"{given}: wanted a Python file, came a path that does not exist")
    if not given.is_file() or given.suffix != ".py":
        kind = "a folder" if given.is_dir() else "another kind of file"
        raise ValueError(f"{given}: wanted a Python file (.py), came {kind}")
    path = given.resolve()
    stem = re.sub(r"\W", "_", path.stem)
    name = f"attnspec_file_{stem}_{zlib.crc32(os.fsencode(path)):08x}"
    with telling(str(given), str(path)), importable(path.parent), _guests(path.parent):
        return _executed(name, path)


def _executed(name: str, path: Path) -> ModuleType:
    """The file run as the module ``name``, which is registered as long as the file does not fail."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _from_name(target: str) -> ModuleType:
    with importable(Path.cwd()):
        if not exists(target):
            hint = nearest(target, backend_names(), otherwise=f"; backends are {', '.join(backend_names())}")
            raise ValueError(f"{target}: wanted a backend, a .py file or a dotted module, came none of these{hint}")
        with telling(target, _source(target)):
            return importlib.import_module(target)


def _source(target: str) -> str | None:
    """The file behind a dotted name, to point at a line of it."""
    with contextlib.suppress(Exception):
        spec = importlib.util.find_spec(target)
        return spec.origin if spec else None
    return None


@contextlib.contextmanager
def importable(folder: Path | None) -> Iterator[None]:
    """What lies in ``folder`` can be imported inside, as a script can; ``sys.path`` is clean afterwards."""
    if folder is None or str(folder) in sys.path:
        yield
        return
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(str(folder))


_GUESTS: dict[str, Path] = {}
"""Modules that were imported from beside a file: another file must not get them for its own of the same name."""


@contextlib.contextmanager
def _guests(folder: Path) -> Iterator[None]:
    """What is imported from ``folder`` inside is for files of that folder alone."""
    for name in [name for name, home in _GUESTS.items() if home != folder]:
        del _GUESTS[name]
        sys.modules.pop(name, None)
    before = set(sys.modules)
    yield
    _GUESTS.update((name, folder) for name in set(sys.modules) - before if _lies_in(folder, sys.modules[name]))


def _lies_in(folder: Path, module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return bool(file) and Path(str(file)).is_relative_to(folder) and not module.__name__.startswith("attnspec_file_")
