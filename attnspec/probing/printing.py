"""The findings for a reader: a line each, with ``--explain`` the experiment and what came under each hypothesis."""

from collections.abc import Sequence

from rich.console import Console

from attnspec.probing.finding import Finding, shown
from attnspec.text import copyable, say


def show(console: Console, target: str, found: Sequence[Finding], explain: bool) -> None:
    """What was told, then what is asked."""
    copyable(console, target, "bold")
    width = max((len(finding.name) for finding in found), default=0) + 2
    for finding in (finding for finding in found if finding.told and finding.asked):
        say(console, f"  {finding.name:{width}}{shown(finding.value)}", hang=width)
        if explain:
            for line in finding.note.splitlines():
                say(console, f"    {line}", "dim")
    left = {finding.name: finding.experiment for finding in found if not finding.asked}
    if left:
        say(console, "  not asked: " + ", ".join(f"{name} ({why})" for name, why in left.items()))
    for finding in (finding for finding in found if not finding.told):
        say(console, finding.unknown, "yellow")
        for line in finding.note.splitlines():
            say(console, f"  {line}", "dim")
