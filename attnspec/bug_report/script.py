"""The script: the implementation, the arrays, the calls, and what is looked at. Exit code 1: the bug shows; 0: not."""

import inspect
import re
from collections.abc import Sequence
from types import ModuleType

from attnspec.bug_report import bundle
from attnspec.bug_report.calls import written
from attnspec.bug_report.checks import HELPERS, calls_of, check_lines
from attnspec.bug_report.failing import Failure
from attnspec.bug_report.literals import Literals
from attnspec.specs.contract import FUNCTIONS

MODULES = '''
import sys
import types


def module(name, source):
    """Make the module ``name`` of its source, so that it can be imported."""
    parent, _, last = name.rpartition(".")
    if parent and sys.modules.get(parent) is None:
        module(parent, "")
    made = sys.modules[name] = types.ModuleType(name)
    made.__path__ = []
    if parent:
        setattr(sys.modules[parent], last, made)
    exec(compile(source, f"{name}.py", "exec"), made.__dict__)
'''


def script(failure: Failure, module: ModuleType, head: Sequence[str]) -> str:
    """The whole text; ``head`` is what it says of itself."""
    literals = Literals()
    calls = [written(failure.backend, call, literals, number) for number, call in enumerate(calls_of(failure.form), 1)]
    checks = check_lines(failure, calls, literals)
    needed = {name for call in calls for name in call.needs} | {"asarray", "to_numpy"}
    harness = re.sub("\n{4,}", "\n\n\n", bundle.pieces(inspect.getsource(_binding(failure)), sorted(needed)))
    body = [*literals.lines, "", "", *(line for call in calls for line in call.lines), *checks]
    names = bundle.top_names("\n".join([harness, *body])) | set(HELPERS)
    source = implementation(module, names)
    imports = _imports("\n".join(body), harness)
    quoted = "\n".join(head).replace("\\", "\\\\").replace('"""', "'''")
    parts = [f'"""{quoted}\n"""', *source, harness, "\n".join([*imports, "", *body])]
    return "\n\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def _binding(failure: Failure) -> ModuleType:
    arrays = failure.backend.arrays
    assert isinstance(arrays, ModuleType)
    return arrays


def implementation(module: ModuleType, taken: set[str]) -> list[str]:
    """The backend's source as it is, if it stands alone and has no name in common with the rest; else as modules."""
    sources = bundle.sources(module)
    (name, source), others = list(sources.items())[-1], list(sources.items())[:-1]
    if not others and not (bundle.top_names(source) & taken) and "from __future__" not in source:
        return [source]
    lines = [f"module({each!r}, {_quoted(text)})" for each, text in sources.items()]
    functions = [each for each in ("attention", *FUNCTIONS) if callable(getattr(module, each, None))]
    return [MODULES, *lines, "\n".join(f"{each} = sys.modules[{name!r}].{each}" for each in functions)]


def _quoted(source: str) -> str:
    return repr(source) if "'''" in source or source.endswith("'") else f"r'''{source}'''"


def _imports(body: str, harness: str) -> list[str]:
    words = {
        "sys": "sys.",
        "base64": "base64.",
        "zlib": "zlib.",
        "subprocess": "subprocess.",
        "ml_dtypes": "ml_dtypes.",
    }
    plain = sorted(name for name, use in words.items() if use in body and name != "ml_dtypes")
    third = [name for name in ("ml_dtypes",) if words[name] in body]
    return [*(f"import {name}" for name in plain), "", *(f"import {name}" for name in third), "import numpy as np"]
