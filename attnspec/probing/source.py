"""The text of an adapter: imports and constants around the wrapper that maps our names onto theirs."""

from collections.abc import Iterator
from pathlib import Path

from attnspec.probing.adapter import Adapter
from attnspec.probing.wrapper import INDENT, ORIGINAL, commented, function_lines, literal
from attnspec.targets import is_path


def module_source(adapter: Adapter, beside: Path | None = None) -> str:
    """The whole file; ``beside`` is the folder that it goes to, None if that is not known."""
    parts = [
        _docstring(adapter),
        *_imports(adapter, beside),
        "",
        *_constants(adapter),
        "",
        "",
        *function_lines(adapter),
        "",
    ]
    return "\n".join(parts)


def _docstring(adapter: Adapter) -> str:
    return f'"""{adapter.subject.label} under the names of attnspec, declared as experiments showed it."""\n'


def _imports(adapter: Adapter, beside: Path | None) -> Iterator[str]:
    module, (root, _, rest) = adapter.subject.module, adapter.subject.attribute.partition(".")
    if is_path(module):
        folder, module = Path(module).parent, Path(module).stem
        if beside is not None and beside.resolve() != folder:
            yield "import sys\n"
            yield f"sys.path.insert(0, {str(folder)!r})"
        if not module.isidentifier():
            yield f"import importlib\n\n{ORIGINAL} = importlib.import_module({module!r}).{adapter.subject.attribute}"
            return
    yield f"from {module} import {root} as {ORIGINAL if not rest else root}"
    if rest:
        yield f"\n{ORIGINAL} = {root}.{rest}"


def _constants(adapter: Adapter) -> Iterator[str]:
    constants = adapter.constants
    for name in ("ARRAYS", "DTYPES"):
        yield from commented(adapter.notes.get(name.lower()), "")
        yield f"{name} = {literal(constants[name])}"
    if constants["LACKS"]:
        yield "LACKS = {"
        for lack in sorted(constants["LACKS"]):
            yield from commented(adapter.notes.get(lack), INDENT)
            yield f"{INDENT}{literal(lack)},"
        yield "}"
    yield from commented(adapter.notes.get("unknown"), "")
    noted = [name for name in adapter.conventions if name in adapter.notes or name in adapter.chosen]
    if noted:
        yield "CONVENTIONS = {"
        for name in noted:
            yield from commented(adapter.notes.get(name), INDENT)
            yield f"{INDENT}{literal(name)}: {literal(adapter.conventions[name])},"
        yield "}"
