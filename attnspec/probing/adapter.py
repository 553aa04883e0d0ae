"""The adapter as far as it is known: what each experiment runs, and in the end what is written."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attnspec.probing.subject import Subject
from attnspec.specs.contract import CONVENTIONS, DTYPES, OPTIONS, default_conventions

ROLES = ("query", "key", "value")


@dataclass(frozen=True)
class Binding:
    """How an option of the contract is handed over: to which parameter, as which expression of its own name."""

    parameter: str
    form: str = "{}"

    def of(self, name: str) -> str:
        """The expression for what is called ``name``."""
        return self.form.replace("{}", name)


@dataclass(frozen=True)
class Adapter:
    """One hypothesis about the whole function; ``source`` is its text, and what is tried is that text."""

    subject: Subject
    arrays: str = "numpy"
    order: tuple[str, ...] = ROLES
    """Which of query, key and value each of the subject's three inputs takes."""
    options: Mapping[str, Binding] = field(default_factory=dict)
    required: Mapping[str, Any] = field(default_factory=dict)
    """What parameters without a default get in calls without the option that goes to them."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that are the same in every call."""
    grouped: str = ""
    """The parameter that allows fewer key/value heads, if there is one."""
    unscaled: bool = False
    """Whether scores are not divided by √D unless a scale is given."""
    parts: Mapping[str, int] = field(default_factory=dict)
    """Where output, weights and lse stand in what is returned; empty: one array, the output."""
    wrapped: bool = False
    """Whether a tuple comes back even if the output alone is asked for."""
    turned: bool = False
    """Whether the log-sum-exp comes as (B, L, Hq)."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Feature of the shape, or "mask_dtype" → why the adapter refuses it though the function does not."""
    lacks: frozenset[frozenset[str]] = frozenset()
    dtypes: tuple[str, ...] = DTYPES
    conventions: Mapping[str, Any] = field(default_factory=default_conventions)
    notes: Mapping[str, str] = field(default_factory=dict)
    """Convention, option or constant → the experiment that shows it."""

    def with_(self, **changes: Any) -> "Adapter":
        """A copy with other fields."""
        return dataclasses.replace(self, **changes)

    def following(self, **conventions: Any) -> "Adapter":
        """A copy that follows other conventions."""
        return self.with_(conventions={**self.conventions, **conventions})

    @property
    def claimed(self) -> tuple[str, ...]:
        """Its keywords, in the contract's order."""
        always = {f"return_{name}" for name in self.parts if name != "output"}
        return tuple(option for option in OPTIONS if option in self.options or option in always)

    @property
    def chosen(self) -> dict[str, Any]:
        """The conventions that are not the default."""
        usual = default_conventions() | {"empty_row_bias": self.conventions["empty_row"]}
        return {name: self.conventions[name] for name in CONVENTIONS if self.conventions[name] != usual[name]}

    @property
    def constants(self) -> dict[str, Any]:
        """What the module declares."""
        declared: dict[str, Any] = {"ARRAYS": self.arrays, "DTYPES": self.dtypes}
        declared["LACKS"] = {"+".join(sorted(lack)) for lack in self.lacks}
        return {**declared, "CONVENTIONS": self.chosen}
