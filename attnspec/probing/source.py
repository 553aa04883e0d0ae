"""The text of an adapter: imports, constants and the wrapper that maps our names onto theirs."""

from collections.abc import Iterator
from pathlib import Path

from attnspec.probing.adapter import Adapter
from attnspec.probing.finding import KEYWORD
from attnspec.targets import is_path
from attnspec.text import wrapped

INDENT = "    "
WIDTH = 110
DEFAULTS = {"is_causal": "False", "dropout_rate": "0.0", "return_weights": "False", "return_lse": "False"}
ORIGINAL = "original"
"""What the wrapped function is called in the adapter."""

REFUSED = {
    "rank2": ("query.ndim < 3", "query", "more than two axes"),
    "rank3": ("query.ndim == 3", "query", "two or four axes"),
    "gqa": (
        "key.shape[{heads}:{heads} + 1 or None] != query.shape[{heads}:{heads} + 1 or None]",
        "key",
        "as many heads as query",
    ),
    "value_dim": ("value.shape[-1] != key.shape[-1]", "value", "the width of key"),
    "cross": ("key.shape[{length}] != query.shape[{length}]", "key", "as many keys as queries"),
    "mask_dtype": ("mask is not None and 'bool' not in str(mask.dtype)", "mask", "booleans"),
    "negative_window": (
        "window is not None and any(n is not None and n < 0 for n in window)",
        "window",
        "no bound below 0",
    ),
}
"""What the adapter refuses → the condition, the argument that is told of, and what is wanted."""


def function_source(adapter: Adapter) -> str:
    """The function alone; ``original`` must be known where it runs."""
    return "\n".join(_function(adapter))


def module_source(adapter: Adapter, beside: Path | None = None) -> str:
    """The whole file; ``beside`` is the folder that it goes to, None if that is not known."""
    parts = [_docstring(adapter), *_imports(adapter, beside), "", *_constants(adapter), "", "", *_function(adapter), ""]
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
        yield from _commented(adapter.notes.get(name.lower()), "")
        yield f"{name} = {_literal(constants[name])}"
    if constants["LACKS"]:
        yield "LACKS = {"
        for lack in sorted(constants["LACKS"]):
            yield from _commented(adapter.notes.get(lack), INDENT)
            yield f"{INDENT}{_literal(lack)},"
        yield "}"
    noted = [name for name in adapter.conventions if name in adapter.notes or name in adapter.chosen]
    if noted:
        yield "CONVENTIONS = {"
        for name in noted:
            yield from _commented(adapter.notes.get(name), INDENT)
            yield f"{INDENT}{_literal(name)}: {_literal(adapter.conventions[name])},"
        yield "}"


def _commented(note: str | None, indent: str) -> Iterator[str]:
    for line in (note or "").splitlines():
        yield from wrapped(f"{indent}# {line}", WIDTH, 0).replace("\n", f"\n{indent}# ").splitlines()


def _literal(value: object) -> str:
    """The value as black and ruff would write it."""
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_literal, value)) + ("," if len(value) == 1 else "") + ")"
    return '"' + value + '"' if isinstance(value, str) and '"' not in value and "\\" not in value else repr(value)


def _function(adapter: Adapter) -> Iterator[str]:
    keywords = [f"{name}={DEFAULTS.get(name, 'None')}" for name in adapter.claimed]
    yield from _signature(keywords)
    yield f'{INDENT}"""Attention of query over key and value by {adapter.subject.attribute}."""'
    for line in (*_guards(adapter), *_arguments(adapter), *_call(adapter)):
        yield INDENT + line


def _signature(keywords: list[str]) -> Iterator[str]:
    """On one line if it fits, else a line for each parameter."""
    parameters = ["query", "key", "value", *(["*", *keywords] if keywords else [])]
    line = f"def attention({', '.join(parameters)}):"
    yield from [line] if len(line) <= WIDTH else ["def attention(", *(f"{INDENT}{name}," for name in parameters), "):"]


def _guards(adapter: Adapter) -> Iterator[str]:
    shared = _sharing(adapter)
    for names in shared:
        yield f"if sum(option is not None for option in ({', '.join(names)})) > 1:"
        yield f'{INDENT}raise ValueError("{names[0]}: wanted one of {", ".join(names)}, came several, in attention()")'
    heads, length = ("-2", "-3") if adapter.conventions["layout"] == "BLHD" else ("-3", "-2")
    for feature, why in adapter.refused.items():
        condition, name, wanted = REFUSED[feature]
        yield from _commented(why, "")
        yield f"if {condition.format(heads=heads, length=length)}:"
        came = f"{{{name}}}" if name == "window" else f"{{{name}.dtype}} {{tuple({name}.shape)}}"
        yield f'{INDENT}raise ValueError(f"{name}: wanted {wanted}, came {came}, in attention()")'


def _sharing(adapter: Adapter) -> list[list[str]]:
    """The options that are handed over by the same parameter."""
    groups: dict[str, list[str]] = {}
    for name, binding in adapter.options.items():
        groups.setdefault(binding.parameter, []).append(name)
    return [names for names in groups.values() if len(names) > 1 and not names[0].startswith("return_")]


def _arguments(adapter: Adapter) -> Iterator[str]:
    """Theirs by name, only those that are given, so that what they do without one is what they do by default."""
    fixed = ", ".join(f"{_literal(name)}: {_literal(value)}" for name, value in adapter.fixed.items())
    yield f"options = {{{fixed}}}"
    for name, binding in adapter.options.items():
        plain = DEFAULTS.get(name)
        yield from _commented(adapter.notes.get(KEYWORD + name), "")
        yield f"if {name}:" if plain else f"if {name} is not None:"
        yield f"{INDENT}options[{_literal(binding.parameter)}] = {binding.of(name)}"
    if adapter.grouped:
        outer = ":-2" if adapter.conventions["layout"] == "BHLD" else "-2:-1"
        yield f"options[{_literal(adapter.grouped)}] = query.shape[{outer}] != key.shape[{outer}]"
    if adapter.unscaled:
        yield from _unscaled(adapter)


def _unscaled(adapter: Adapter) -> Iterator[str]:
    yield from _commented(adapter.notes.get("default_scale"), "")
    root = "(query.shape[-1] or 1) ** -0.5"
    if binding := adapter.options.get("scale"):
        yield "if scale is None:"
        yield f"{INDENT}options[{_literal(binding.parameter)}] = {binding.of(f'({root})')}"
    else:
        yield f"query = query * {root}"


def _call(adapter: Adapter) -> Iterator[str]:
    names = [parameter.name for parameter in adapter.subject.parameters[:3] if parameter.positional]
    pairs = list(zip(adapter.subject.inputs, adapter.order, strict=True))
    by_place = names == list(adapter.subject.inputs)
    arguments = ", ".join(role if by_place else f"{name}={role}" for name, role in pairs)
    call = f"{ORIGINAL}({arguments}, **options)"
    if not adapter.parts:
        yield f"return {call}"
        return
    yield f"result = {call}"
    yield from _result(adapter)


def _result(adapter: Adapter) -> Iterator[str]:
    """A tuple of what is asked for; theirs may hold more, or be a tuple only if more than the output is asked for."""
    asked = [name for name in adapter.parts if name != "output"]
    flagged = [name for name in asked if f"return_{name}" in adapter.options]
    output = f"result[{adapter.parts['output']}]"
    if not adapter.wrapped:
        yield f"if not ({' or '.join(f'return_{name}' for name in asked)}):"
        yield f"{INDENT}return result"
    both = len(asked) == 2
    yield f"parts = [{output}]"
    for name in ("weights", "lse"):
        if name in asked:
            turn = ".swapaxes(-1, -2)" if name == "lse" and adapter.turned else ""
            at = _place(adapter, name, flagged) if both else str(adapter.parts[name])
            yield f"if return_{name}:"
            yield f"{INDENT}parts.append(result[{at}]{turn})"
    yield "return tuple(parts) if len(parts) > 1 else parts[0]"


def _place(adapter: Adapter, name: str, flagged: list[str]) -> str:
    """Where a part stands that another one, which is there only if asked for, may stand before."""
    own = {part: adapter.options.get(f"return_{part}") for part in adapter.parts}
    before = [other for other in flagged if adapter.parts[other] < adapter.parts[name] and own[other] != own[name]]
    first = adapter.parts[name] - len(before)
    return " + ".join([str(first), *(f"return_{other}" for other in before)])
