"""The parameters of a function; of a built-in one those that its documentation begins with."""

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Parameter:
    """One that takes one argument: its name, whether it must be given, and whether its place will do."""

    name: str
    required: bool
    positional: bool


def parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Those that take one argument, in order. ValueError if there is no signature to read."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        signature = _documented(function)
    found = []
    for parameter in signature.parameters.values():
        if parameter.kind not in VARIADIC:
            positional = parameter.kind != inspect.Parameter.KEYWORD_ONLY
            found.append(Parameter(parameter.name, parameter.default is inspect.Parameter.empty, positional))
    return tuple(found)


def _documented(function: Callable[..., Any]) -> inspect.Signature:
    """The signature that the documentation of a built-in function begins with, as PyTorch's do."""
    name = getattr(function, "__name__", "")
    match = re.match(rf"\s*{re.escape(name)}(\(.*?\))\s*(->|\n|$)", function.__doc__ or "", re.DOTALL)
    try:
        arguments = ast.parse(f"def f{match[1]}: ...").body[0].args  # type: ignore[index,attr-defined]  # raised below
    except (TypeError, SyntaxError):
        raise ValueError("wanted a function with a readable signature, came one without: wrap it") from None
    return inspect.Signature(list(_parameters(arguments)))


def _parameters(arguments: ast.arguments) -> "list[inspect.Parameter]":
    """Those of a parsed signature; only whether there is a default is of interest."""
    plain = [*arguments.posonlyargs, *arguments.args]
    optional = len(plain) - len(arguments.defaults)
    found = [_parameter(a, inspect.Parameter.POSITIONAL_OR_KEYWORD, i >= optional) for i, a in enumerate(plain)]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return found + [_parameter(a, inspect.Parameter.KEYWORD_ONLY, default is not None) for a, default in named]


def _parameter(argument: ast.arg, kind: Any, optional: bool) -> inspect.Parameter:
    return inspect.Parameter(argument.arg, kind, default=None if optional else inspect.Parameter.empty)
