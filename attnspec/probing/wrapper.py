"""The wrapper in an adapter's text: it refuses, translates the arguments, calls, and takes apart what is returned."""

from collections.abc import Iterator

from attnspec.probing.adapter import Adapter
from attnspec.probing.finding import KEYWORD
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
    "mask_dtype": ('mask is not None and "bool" not in str(mask.dtype)', "mask", "booleans"),
    "negative_window": (
        "window is not None and any(n is not None and n < 0 for n in window)",
        "window",
        "no bound below 0",
    ),
}
"""What the adapter refuses → the condition, the argument that is told of, and what is wanted."""


def function_source(adapter: Adapter) -> str:
    """The function alone; ``original`` must be known where it runs."""
    return "\n".join(function_lines(adapter))


def commented(note: str | None, indent: str) -> Iterator[str]:
    """The note as comment lines."""
    for line in (note or "").splitlines():
        yield from wrapped(f"{indent}# {line}", WIDTH, 0).replace("\n", f"\n{indent}# ").splitlines()


def literal(value: object) -> str:
    """The value as black and ruff would write it."""
    if isinstance(value, tuple):
        return "(" + ", ".join(map(literal, value)) + ("," if len(value) == 1 else "") + ")"
    return '"' + value + '"' if isinstance(value, str) and '"' not in value and "\\" not in value else repr(value)


def function_lines(adapter: Adapter) -> Iterator[str]:
    """The same, line by line."""
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
        yield from commented(why, "")
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
    always = {**adapter.required, **adapter.fixed}
    pairs = ", ".join(f"{literal(name)}: {literal(value)}" for name, value in always.items())
    yield f"options = {{{pairs}}}"
    for name, binding in adapter.options.items():
        plain = DEFAULTS.get(name)
        yield from commented(adapter.notes.get(KEYWORD + name), "")
        yield f"if {name}:" if plain else f"if {name} is not None:"
        yield f"{INDENT}options[{literal(binding.parameter)}] = {binding.of(name)}"
    if adapter.grouped:
        outer = ":-2" if adapter.conventions["layout"] == "BHLD" else "-2:-1"
        yield f"options[{literal(adapter.grouped)}] = query.shape[{outer}] != key.shape[{outer}]"
    if adapter.unscaled:
        yield from _unscaled(adapter)


def _unscaled(adapter: Adapter) -> Iterator[str]:
    yield from commented(adapter.notes.get("default_scale"), "")
    root = "(query.shape[-1] or 1) ** -0.5"
    if binding := adapter.options.get("scale"):
        yield "if scale is None:"
        yield f"{INDENT}options[{literal(binding.parameter)}] = {binding.of(f'({root})')}"
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
