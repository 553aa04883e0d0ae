"""Whatever is wrong with a target, in one line: in which target, what was wanted, what came."""

import contextlib
import importlib
import pkgutil
import traceback
from collections.abc import Iterable, Iterator
from importlib import metadata

from attnspec.specs.contract import first_line, nearest


class Unavailable(ValueError):
    """The target may well be right, but what it needs is not on this machine."""


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
        raise (ValueError(f"{name}: {one_line(error)}") if file is None else _broken(name, error, file)) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _broken(name, error, file) from error


def one_line(error: BaseException) -> str:
    """The first line of what an exception says, its type if it says nothing."""
    return first_line(error) or type(error).__name__


def one_of(what: str, came: str, known: Iterable[str]) -> str:
    """``came``, if it is among ``known``. ValueError names the nearest."""
    names = list(known)
    if came not in names:
        wanted = f"one of {', '.join(names)}" if len(names) <= 10 else f"one such as {names[0]}"
        raise ValueError(f"{what}: wanted {wanted}, came {came!r}{nearest(came, names)}")
    return came


def not_installed(package: str, extra: str) -> str:
    """What is said of a package that is missing, with the extra of ours that brings it."""
    return f"wanted the package {package}, came none: it is not installed (pip install 'attnspec[{extra}]')"


def extras() -> tuple[str, ...]:
    """The names of what can be installed along with attnspec: many are those of a package."""
    return tuple(metadata.metadata("attnspec").get_all("Provides-Extra") or ())


def modules_of(package: str) -> tuple[str, ...]:
    """The names of a package's modules, those that are packages left out."""
    path = importlib.import_module(package).__path__
    return tuple(sorted(info.name for info in pkgutil.iter_modules(path) if not info.ispkg))


def _not_found(name: str, error: ModuleNotFoundError, file: str | None) -> ValueError:
    """What an extra of ours is named after can be installed along with attnspec."""
    missing = (error.name or "").partition(".")[0]
    if missing.replace("_", "-") in extras():
        return Unavailable(f"{name}: {not_installed(missing, missing.replace('_', '-'))}")
    return _broken(name, error, file)


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
