"""What an experiment comes to: under each hypothesis what came, and which one matched."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

FITS = "fits"

KEYWORD = "keyword "
"""What the name of a finding about an option begins with: some are called like a convention."""


@dataclass(frozen=True)
class Trial:
    """One hypothesis, whether what came is what it says, and what came."""

    value: Any
    fits: bool
    came: str


@dataclass(frozen=True)
class Finding:
    """A convention or another fact. ``value`` is None if it could not be told, or was not asked."""

    name: str
    value: Any
    experiment: str
    trials: tuple[Trial, ...] = ()
    asked: bool = True
    """False if the function has nothing that the convention is about; then ``experiment`` says what."""
    wanted: tuple[Any, ...] = field(default=())
    """What it may be, if it could not be told."""

    @property
    def told(self) -> bool:
        """Whether there is an answer, or no question."""
        return self.value is not None or not self.asked

    @property
    def evidence(self) -> str:
        """One sentence: what came under each hypothesis."""
        return "; ".join(f"{shown(trial.value)}: {trial.came}" for trial in self.trials)

    @property
    def note(self) -> str:
        """For a comment: the experiment and the evidence, a line each."""
        return "\n".join(filter(None, (self.experiment, self.evidence)))

    @property
    def unknown(self) -> str:
        """What is asked of the user if it could not be told."""
        among = f"wanted one of {', '.join(map(shown, self.wanted))}, " if self.wanted else ""
        return f"could not tell: {self.name} — {among}say with --set {self.name.removeprefix(KEYWORD)}=VALUE"

    def to_json(self) -> dict[str, Any]:
        """The fields, and whether it is told."""
        return {**asdict(self), "told": self.told}


def shown(value: Any) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, tuple | list | set | frozenset):
        return ", ".join(map(shown, value)) or "none"
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def choose(
    name: str, experiment: str, values: Sequence[Any], attempt: Callable[[Any], Trial], lazy: bool = False
) -> Finding:
    """The one value that fits; none and several are no answer. ``lazy`` stops at the first, where others cannot fit."""
    trials: list[Trial] = []
    for value in values:
        trials.append(attempt(value))
        if lazy and trials[-1].fits:
            break
    fitting = [trial.value for trial in trials if trial.fits]
    return Finding(name, fitting[0] if len(fitting) == 1 else None, experiment, tuple(trials), wanted=tuple(values))
