"""The source of a backend, and of what it imports of ours or from beside it, so that nothing else is needed."""

import ast
import importlib.util
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

OURS = ("attnspec.impls", "attnspec.mutants")
"""Packages whose modules are written out."""


def sources(module: ModuleType) -> dict[str, str]:
    """Name → source of each module that ``module`` is made of: what is imported first stands first, itself last."""
    found: dict[str, str] = {}
    _collect(module.__name__, inspect.getsource(module), Path(str(module.__file__)).parent, found)
    return found


def _collect(name: str, source: str, folder: Path, found: dict[str, str]) -> None:
    if name in found:
        return
    found[name] = ""  # so that a circle ends
    for imported in imports(source, name):
        if (origin := _origin(imported, folder)) is not None:
            _collect(imported, origin.read_text(), folder, found)
    del found[name]
    found[name] = source


def imports(source: str, name: str) -> Iterator[str]:
    """The modules that may be meant by the imports of a source, wherever in it they are."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = name.rsplit(".", node.level)[0] if node.level else ""
            module = ".".join(filter(None, (package, node.module)))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _origin(name: str, folder: Path) -> Path | None:
    """The file of a module that is to be written out."""
    if name.startswith(tuple(f"{package}." for package in OURS)):
        try:
            spec = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            return None
        return Path(spec.origin) if spec and spec.origin else None
    beside = folder / f"{name}.py"
    return beside if beside.is_file() else None


def pieces(source: str, wanted: Iterable[str]) -> str:
    """The functions ``wanted`` out of a module's source, and what they need of it, in its order."""
    nodes = ast.parse(source).body
    defined = {name: node for node in nodes for name in _defines(node)}
    kept, waiting = set[ast.stmt](), [defined[name] for name in wanted]
    waiting += [node for node in nodes if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)]
    while waiting:
        node = waiting.pop()
        if node not in kept:
            kept.add(node)
            names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            waiting += [defined[name] for name in names if name in defined]
    return "\n".join(_text(source, node) for node in nodes if node in kept)


def _defines(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Import() | ast.ImportFrom():
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        case ast.FunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign():
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _text(source: str, node: ast.stmt) -> str:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    text = "\n".join(source.splitlines()[first - 1 : node.end_lineno])
    return f"\n\n{text}\n" if isinstance(node, ast.FunctionDef | ast.ClassDef) else text


def top_names(source: str) -> set[str]:
    """What a source defines."""
    return {name for node in ast.parse(source).body for name in _defines(node)}
