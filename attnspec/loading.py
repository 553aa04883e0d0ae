"""From a target (a backend's name, a file, a dotted module) to a backend.

Every mistake in a target is one line of ValueError: in which target, what was wanted, what came.
"""

import contextlib
import difflib
import importlib
import importlib.util
import os
import pkgutil
import re
import sys
import traceback
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from attnspec.specs.contract import Declaration, claimed_options, read_declaration

if TYPE_CHECKING:
    from attnspec.specs.backend import Backend

Target = str | Path | ModuleType


class Unavailable(ValueError):
    """The target may well be right, but what it needs is not on this machine."""


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
        with _importable(_folder(module)):
            arrays = binding(declaration.arrays)
        return Backend(name, function, declaration, arrays, _device(device, declaration, arrays))


def short_name(target: Target) -> str:
    """What reports call the target: a file's stem, a module's last part."""
    if isinstance(target, ModuleType):
        target = getattr(target, "__file__", None) or target.__name__
    if _is_path(target):
        return Path(target).stem
    return str(target).rpartition(".")[2]


def label(target: Target) -> str:
    """What messages call the target: what was typed, or a module's name."""
    return target.__name__ if isinstance(target, ModuleType) else str(target)


def backend_names() -> tuple[str, ...]:
    """The in-tree backends: every module of ``attnspec.impls`` that is not a package."""
    return _modules("attnspec.impls")


def find(target: Target) -> ModuleType:
    """The module that ``target`` names, imported."""
    if isinstance(target, ModuleType):
        return target
    if _is_path(target):
        return _from_file(Path(target))
    if target in backend_names():
        with telling(str(target)):
            return importlib.import_module(f"attnspec.impls.{target}")
    return _from_name(str(target))


def one_of(what: str, came: str, known: Iterable[str]) -> str:
    """``came``, if it is among ``known``. ValueError names the nearest."""
    names = list(known)
    if came not in names:
        near = difflib.get_close_matches(came, names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        wanted = f"one of {', '.join(names)}" if len(names) <= 10 else f"one such as {names[0]}"
        raise ValueError(f"{what}: wanted {wanted}, came {came!r}{hint}")
    return came


@contextlib.contextmanager
def telling(name: str, file: str | None = None) -> Iterator[None]:
    """Turn whatever is raised inside into one line of ValueError that names the target and the line of ``file``."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise _not_found(name, error, file) from error
    except Unavailable as error:
        raise Unavailable(f"{name}: {error}") from error
    except ValueError as error:
        if file is None:
            raise ValueError(f"{name}: {one_line(error)}") from error
        raise _broken(name, error, file) from error
    except (Exception, SystemExit) as error:
        raise _broken(name, error, file) from error


def one_line(error: BaseException) -> str:
    """The first line of what an exception says."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _modules(package: str) -> tuple[str, ...]:
    path = importlib.import_module(package).__path__
    return tuple(sorted(info.name for info in pkgutil.iter_modules(path) if not info.ispkg))


def _is_path(target: str | Path) -> bool:
    text = os.fspath(target)
    return isinstance(target, Path) or text.endswith(".py") or os.sep in text or "/" in text


def _from_file(given: Path) -> ModuleType:
    path = given
    if not path.exists():
        raise ValueError(f"{path}: wanted a Python file, came a path that does not exist")
    if not path.is_file() or path.suffix != ".py":
        kind = "a folder" if path.is_dir() else "another kind of file"
        raise ValueError(f"{path}: wanted a Python file (.py), came {kind}")
    path = path.resolve()
    stem = re.sub(r"\W", "_", path.stem)
    name = f"attnspec_file_{stem}_{zlib.crc32(os.fsencode(path)):08x}"
    with telling(str(given), str(path)), _importable(path.parent):
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
        del sys.modules[name]
        raise
    return module


def _from_name(target: str) -> ModuleType:
    root = target.partition(".")[0]
    with _importable(Path.cwd()):
        if not root.isidentifier() or not (root in sys.modules or importlib.util.find_spec(root)):
            near = difflib.get_close_matches(target, backend_names(), 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; backends are {', '.join(backend_names())}"
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
def _importable(folder: Path | None) -> Iterator[None]:
    """What lies in ``folder`` can be imported inside, as it can by a script; ``sys.path`` is clean afterwards."""
    if folder is None or str(folder) in sys.path:
        yield
        return
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(str(folder))


def _folder(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).parent if file else None


def _not_found(name: str, error: ModuleNotFoundError, file: str | None) -> ValueError:
    missing = (error.name or "").partition(".")[0]
    if missing in _extras():
        install = f"pip install 'attnspec[{missing}]'"
        return Unavailable(f"{name}: wanted the package {missing}, came none: it is not installed ({install})")
    return _broken(name, error, file)


def _extras() -> tuple[str, ...]:
    """The frameworks that attnspec can be installed with: the extras that are array libraries."""
    return _modules("attnspec.impls.arrays")


def _broken(name: str, error: BaseException, file: str | None) -> ValueError:
    line = _line_in(error, file)
    where = f", at line {line}" if line else ""
    return ValueError(f"{name}: wanted a module that imports, came {type(error).__name__}: {one_line(error)}{where}")


def _line_in(error: BaseException, file: str | None) -> int | None:
    """The last line of ``file`` that the error passed through."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == file), None)


def _attention(constants: dict[str, Any]) -> Callable[..., Any]:
    if "attention" not in constants:
        raise ValueError("wanted a function `attention`, came a module without one")
    function = constants["attention"]
    if not callable(function):
        raise ValueError(f"attention: wanted a function, came {type(function).__name__}")
    claimed_options(function)
    checked: Callable[..., Any] = function
    return checked


def _declaration(constants: dict[str, Any]) -> Declaration:
    declaration = read_declaration(constants)
    if declaration.known_issues:
        from attnspec.specs.catalogue import catalogue

        for issue in declaration.known_issues:
            if "." in issue and issue not in catalogue():
                near = difflib.get_close_matches(issue, catalogue(), 1)
                wanted = f"ids of invariants, such as {near[0]!r}" if near else "ids of invariants (attnspec explain)"
                raise ValueError(f"KNOWN_ISSUES: wanted {wanted}, came {issue!r}")
    return declaration


def _narrowed(declaration: Declaration, dtypes: tuple[str, ...]) -> Declaration:
    import dataclasses

    for dtype in dtypes:
        if dtype not in declaration.dtypes:
            raise ValueError(f"dtype: wanted one of those declared, {', '.join(declaration.dtypes)}, came {dtype!r}")
    return dataclasses.replace(declaration, dtypes=dtypes or declaration.dtypes)


def binding(name: str) -> Any:
    """The binding of the array library ``name``: one of ours, or a module of the target's own that provides one."""
    ours = _modules("attnspec.impls.arrays")
    if name in ours:
        return importlib.import_module(f"attnspec.impls.arrays.{name}")
    root = name.partition(".")[0]
    if not root.isidentifier() or not (root in sys.modules or importlib.util.find_spec(root)):
        raise ValueError(f"ARRAYS: wanted one of {', '.join(ours)}, or a module that provides a binding, came {name!r}")
    return _bound(name, importlib.import_module(name))


def _bound(name: str, module: ModuleType) -> ModuleType:
    """The module, if it has all that a binding needs; a transformation counts only where TRANSFORMS names it."""
    from attnspec.specs.arrays import ArrayLibrary

    wanted = {member for member in vars(ArrayLibrary) | ArrayLibrary.__annotations__ if not member.startswith("_")}
    optional = {"gradient", "compile", "vectorize"} - set(getattr(module, "TRANSFORMS", ()))
    missing = sorted(member for member in wanted - optional if not hasattr(module, member))
    if missing:
        raise ValueError(f"ARRAYS: wanted a module with {', '.join(missing)}, came {name!r} without")
    return module


def _device(asked: str | None, declaration: Declaration, arrays: Any) -> str:
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
