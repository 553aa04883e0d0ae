"""From a target such as ``my.py``, ``torch.nn.functional:scaled_dot_product_attention`` to the function to probe."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

from attnspec.errors import telling
from attnspec.probing.signature import Parameter, parameters
from attnspec.specs.contract import nearest
from attnspec.specs.synonyms import INPUTS, meant_by
from attnspec.targets import backend_names, find, is_path


@dataclass(frozen=True)
class Subject:
    """The function, where it is imported from and as what, and what it is called with."""

    label: str
    module: str
    """A dotted name, or a file's path."""
    attribute: str
    function: Callable[..., Any]
    parameters: tuple[Parameter, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The three parameters that take query, key and value: those so named, or the first three."""
        names = [parameter.name for parameter in self.parameters]
        named = [name for name in names if name.lower() in sum(INPUTS.values(), ())]
        return tuple(named if len(named) == 3 else names[:3])

    @property
    def others(self) -> tuple[Parameter, ...]:
        """The parameters beside these three."""
        return tuple(parameter for parameter in self.parameters if parameter.name not in self.inputs)

    @property
    def proposed(self) -> tuple[str, ...] | None:
        """Which of query, key and value each of the three takes, by their names; None if the names do not tell."""
        roles = tuple(role for name in self.inputs for role, names in INPUTS.items() if name.lower() in names)
        return roles if len(set(roles)) == len(roles) == 3 else None


def subject(target: str, given: tuple[str, ...] = ()) -> Subject:
    """The function that ``target`` names; ``given`` are arguments that it gets anyway. ValueError says what is wrong.

    TARGET is a file, a dotted module or an in-tree backend, with ``:function`` behind it unless that is ``attention``
    or the only function there.
    """
    where, _, attribute = target.rpartition(":") if ":" in target else (target, "", "")
    module = find(where)
    with telling(where):
        attribute = attribute or _only(module)
        function = _attribute(module, attribute)
    with telling(f"{where}:{attribute}"):
        found = Subject(target, _import_name(where), attribute, function, parameters(function))
        _check(found, given)
    return found


def _import_name(where: str) -> str:
    if is_path(where):
        return str(Path(where).resolve())
    return f"attnspec.impls.{where}" if where in backend_names() else where


def _only(module: ModuleType) -> str:
    functions = [n for n, f in vars(module).items() if inspect.isfunction(f) and f.__module__ == module.__name__]
    public = [name for name in functions if not name.startswith("_")]
    if "attention" in vars(module) or len(public) != 1:
        if "attention" in vars(module):
            return "attention"
        came = f"one with {', '.join(public[:8])}: say which, as in MODULE:{public[0]}" if public else "one without any"
        raise ValueError(f"wanted a module with `attention` or with one function, came {came}")
    return public[0]


def _attribute(module: ModuleType, attribute: str) -> Callable[..., Any]:
    try:
        function: Any = reduce(getattr, attribute.split("."), module)
    except AttributeError:
        public = [name for name in vars(module) if not name.startswith("_")]
        raise ValueError(f"wanted a function {attribute!r}, came none{nearest(attribute, public)}") from None
    if not callable(function) or inspect.isclass(function):
        kind = "a class: wrap a call of an instance" if inspect.isclass(function) else f"a {type(function).__name__}"
        raise ValueError(f"wanted a function, came {kind}")
    checked: Callable[..., Any] = function
    return checked


def _check(found: Subject, given: tuple[str, ...]) -> None:
    """ValueError unless query, key and value are all that must be given; what names an option of ours may be None."""
    names = [parameter.name for parameter in found.parameters]
    for name in given:
        if name not in names:
            raise ValueError(f"--set-arg: wanted a parameter of the function, came {name!r}{nearest(name, names)}")
    if len(found.inputs) < 3:
        came = ", ".join(names) or "none that are named"
        raise ValueError(f"wanted parameters for query, key and value, came {came}: wrap the function")
    unknown = [p.name for p in found.others if p.required and not meant_by(p.name) and p.name not in given]
    if unknown:
        bind = " ".join(f"--set-arg {name}=VALUE" for name in unknown)
        raise ValueError(
            f"wanted a function that needs query, key and value alone, came one that needs {', '.join(unknown)} too: "
            f"bind with {bind}, or wrap the function"
        )
