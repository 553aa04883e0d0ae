"""The command line. Exit codes: 0 conforms, 1 at least one violation, 2 could not be verified."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from attnspec.errors import not_installed
from attnspec.specs.contract import DTYPES


class Positive(click.FloatRange):
    """A number above 0; NaN, which compares with nothing, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


POSITIVE = Positive(min=0, min_open=True)

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=CONTEXT, invoke_without_command=True)
@click.version_option(package_name="attnspec")
@click.pass_context
def cli(context: click.Context) -> None:
    """Verify any attention implementation against an exact oracle, with computed error bounds."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@cli.command("list")
@click.argument("targets", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable, on standard output.")
def list_command(targets: tuple[str, ...], as_json: bool) -> int:
    """Show the backends: framework, devices, features, conventions, or why one is unavailable."""
    from attnspec.listing import listing

    return listing(targets, as_json)


@cli.command("verify")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET…")
@click.option("--profile", default="default", show_default=True, help="quick, default or thorough.")
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0, 2**32 - 1), help="Other numbers, reproducibly."
)
@click.option("--device", help="Such as cpu or cuda; the array library's first unless given.")
@click.option("--dtype", "dtypes", multiple=True, type=click.Choice(DTYPES), help="Only this one. Repeatable.")
@click.option("--only", "patterns", multiple=True, metavar="PATTERN", help='Such as "softmax.*". Repeatable.')
@click.option("--problem", metavar="JSON|FILE", help="Replay the invariants of --only on this one problem.")
@click.option("--vectors", is_flag=True, help="Run the golden vectors instead; --only takes their names.")
@click.option("--layers", is_flag=True, help="Verify layers: TARGET is numpy, torch, jax or a module of layers.")
@click.option("--json", "json_file", metavar="FILE", help="Write JSON; - is standard output.")
@click.option("--junit", "junit_file", metavar="FILE", help="Write JUnit XML; - is standard output.")
@click.option("--durations", is_flag=True, help="Tell where the time goes, and the slowest invariants.")
@click.option("-j", "--jobs", default=1, show_default=True, type=click.IntRange(min=1), help="Targets at once.")
@click.option(
    "--timeout",
    type=POSITIVE,
    help="Seconds for each target; a call may take a tenth. [default: 600; thorough: 6000]",
)
@click.option(
    "--memory",
    type=POSITIVE,
    help="GiB that each target may hold. [default: its share of three quarters of the machine's]",
)
def verify_command(**options: Any) -> int:
    """Hold each TARGET to the invariants: a backend's name, a Python file, or a dotted module.

    With --layers a TARGET is an array library, on which the layers above attention are verified.

    Exit code 0: all conform; 1: at least one violation; 2: one could not be verified, or not completely.
    """
    from attnspec.running import run

    return run(**options)


@cli.command("probe")
@click.argument("target")
@click.option("--arrays", multiple=True, metavar="NAME", help="Only this array library. Repeatable.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A convention, or an option's parameter. Repeatable."
)
@click.option("--set-arg", "given", multiple=True, metavar="NAME=VALUE", help="Always give this argument. Repeatable.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the adapter here.")
@click.option("--explain", is_flag=True, help="Tell of each experiment, and what came under each hypothesis.")
@click.option("--timeout", default=300.0, show_default=True, type=POSITIVE)
def probe_command(**options: Any) -> int:
    """Find out by experiment what an attention function that declares nothing does, and write an adapter for it.

    TARGET is a file, a dotted module or either with a function: torch.nn.functional:scaled_dot_product_attention.

    Exit code 0: all is told; 1: something could not be told; 2: nothing works.
    """
    from attnspec.probing.command import probe

    return probe(**options)


@cli.command("bug-report")
@click.argument("target")
@click.option("--invariant", "key", metavar="ID", help="Or features of a known issue, such as is_causal+gqa.")
@click.option("--all", "every", is_flag=True, help="Every known issue of the target.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=".", show_default="this folder")
@click.option("--profile", default="default", show_default=True, help="quick, default or thorough.")
@click.option("--device", help="Such as cpu or cuda; the array library's first unless given.")
@click.option("--timeout", type=POSITIVE, default=600.0, show_default=True)
def bug_report_command(
    target: str, key: str | None, every: bool, out: Path, profile: str, device: str | None, timeout: float
) -> int:
    """Make a script and a text of a failure of TARGET, that need only the framework and NumPy.

    The script exits with 1 where the bug shows and with 0 where it does not. Exit code 0: both are written, and the
    script shows the failure here; 2: there is nothing to report, or no script can show it.
    """
    from attnspec.bug_report.command import bug_report
    from attnspec.child import Job

    return bug_report(Job(target, profile, device=device, timeout=timeout), key, every, out)


@cli.command("table")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN.json…")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it; standard output unless given.")
def table_command(runs: tuple[Path, ...], as_json: bool, out: Path | None) -> int:
    """Make the table of implementations by families of invariants, out of what `verify --json` wrote.

    Of an implementation that is in several RUNs the latest counts.
    """
    from attnspec.conformance.command import conformance

    return conformance(runs, as_json, out)


@cli.command("report")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN.json…]")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default="report.html", show_default=True)
@click.option("--png", type=click.Path(file_okay=False, path_type=Path), help="Write the figures into this folder.")
def report_command(runs: tuple[Path, ...], out: Path, png: Path | None) -> int:
    """Make one page out of what `verify --json` and `bench --json` wrote, to be opened from disk.

    Backends and mutants are told apart by their names: `verify 'attnspec.mutants.*' --json` gives the kill matrix. What
    no RUN is there for is left out, with a line that says which command makes it.
    """
    from attnspec.reporting.command import report

    return report(runs, out, png)


@cli.command("bench")
@click.argument("targets", nargs=-1, metavar="[TARGET]…")
@click.option("--workload", "patterns", multiple=True, metavar="PATTERN", help='Such as "prefill-*". Repeatable.')
@click.option("--dtype", "dtypes", multiple=True, type=click.Choice(DTYPES), help="Only this one. Repeatable.")
@click.option("--quick", is_flag=True, help="A few workloads, in less than a minute.")
@click.option("--rounds", type=click.IntRange(min=1), help="Times of each. [default: 7; --quick: 3]")
@click.option("--timeout", default=120.0, show_default=True, type=POSITIVE, help="Seconds a round.")
@click.option("--memory", type=POSITIVE, help="GiB for each. [default: 3/4 of the machine's]")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write the result file.")
@click.option("--baseline", metavar="NAME", help="What ratios are told against; the fastest unless given.")
@click.option("--targets", "reach", is_flag=True, help="Measure what the references are meant to reach.")
def bench_command(**options: Any) -> int:
    """Time backends side by side: each TARGET, or all of ours, on workloads by name.

    Outputs are checked before, while and after they are timed. Exit code 0: all were right; 1: one was wrong, fell back
    or failed, and is not ranked; 2: nothing was timed.
    """
    from attnspec.benchmarks.command import bench

    return bench(**options)


@cli.command("compare")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN.json [RUN.json]")
@click.option("--baseline", metavar="NAME", help="What ratios are told against; the fastest unless given.")
def compare_command(files: tuple[Path, ...], baseline: str | None) -> int:
    """Show a run that `bench --json` wrote: medians, spread, and ratios within the run.

    Of two, the later one, with the ratios of the earlier one and how they have changed.
    """
    from attnspec.benchmarks.compare import compare

    return compare(files, baseline)


@cli.command("explain")
@click.argument("invariant", required=False)
def explain_command(invariant: str | None) -> int:
    """Tell what an INVARIANT says, its source and the bugs it catches; list all of them without it."""
    from attnspec.explaining import explain

    return explain(invariant)


@cli.command("trace")
@click.option(
    "--json", "file", metavar="FILE", help="JSON with x, w_query, w_key, w_value. [default: the textbooks' example]"
)
@click.option("--scale", type=float, help="Factor of the scores: 1 for the textbooks' example, else 1/√d_k.")
def trace_command(file: str | None, scale: float | None) -> int:
    """Print every step of self-attention over a small example."""
    from attnspec.tracing import trace

    return trace(file, scale)


@cli.command("parity")
@click.argument("names", nargs=-1, metavar="[NAME]…")
@click.option(
    "--arrays", multiple=True, type=click.Choice(("numpy", "torch", "jax")), help="Only this one. Repeatable."
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable, on standard output.")
def parity_command(names: tuple[str, ...], arrays: tuple[str, ...], as_json: bool) -> int:
    """Compare our layers and models with those of PyTorch, Flax, Keras and transformers, state by state.

    A NAME is one of the table, or how some of them begin, such as torch or bert; without one it is all.

    Weights are random, or those of MiniLM. Exit code 0: all within the error bound; 1: one is not; 2: nothing ran.
    """
    from attnspec.parity.table import parity

    return parity(names, arrays, as_json)


@cli.command("visualize")
@click.argument("sentence")
@click.option(
    "--token", required=True, metavar="WORD", help="Whose attention: a word of the sentence, or a piece of one."
)
@click.option("--nth", default=1, show_default=True, type=int, help="Which one, if the word occurs several times.")
@click.option("--layer", type=int, help="Only this layer in the picture, from 1.")
@click.option("--head", type=int, help="Only this head in the picture, from 1.")
@click.option("--arrays", default="numpy", show_default=True, type=click.Choice(("numpy", "torch", "jax")))
@click.option("--png", type=click.Path(path_type=Path), default="attention.png", show_default=True)
@click.option("--html", type=click.Path(path_type=Path), default="attention.html", show_default=True)
def visualize_command(sentence: str, **options: Any) -> int:
    """Draw where a token of SENTENCE attends, in every layer and head of MiniLM: a picture and a page."""
    from attnspec.visualizing.command import visualize

    return visualize(sentence, **options)


@cli.command("learn")
@click.argument("arrays", metavar="torch|jax")
@click.option("--positions/--no-positions", default=True, help="Whether the model sees where a token is.")
@click.option("--steps", default=600, show_default=True, type=click.IntRange(min=2))
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**32 - 1))
@click.option("--png", type=click.Path(path_type=Path), default="loss.png", show_default=True)
def learn_command(**options: Any) -> int:
    """Train a small encoder-decoder of our layers to translate digits to words, backwards.

    Exit code 0: more than 99 % of what was held out is translated right; 1: not so.
    """
    from attnspec.learning.command import learn_command

    return learn_command(**options)


@cli.command("vectors")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default="vectors", show_default=True)
def vectors_command(out: Path) -> int:
    """Write the golden vectors, for implementations in any language."""
    from attnspec.specs.golden import write

    write(out)
    click.echo(f"golden vectors are in {out}{os.sep}")
    return 0


def main() -> None:
    """The command ``attnspec``: whatever goes wrong is one line, never a traceback (unless ATTNSPEC_DEBUG is set)."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    sys.exit(_code())


def _code() -> int:
    try:
        return int(cli.main(standalone_mode=False) or 0)
    except click.ClickException as error:
        _say(f"{error.format_message()} (attnspec --help)")
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python complains when it flushes
    except Exception as error:
        if os.environ.get("ATTNSPEC_DEBUG"):
            raise
        _say(_told(error))
    return 2


def _told(error: Exception) -> str:
    """What an exception says, and what kind it is unless that is plain."""
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("attnspec"):
        package = error.name.partition(".")[0].replace("_", "-")
        return not_installed(package, "all")
    kind = "" if isinstance(error, ValueError | OSError) else f"internal error: {type(error).__name__}: "
    return f"{kind}{error}"


def _say(message: str) -> None:
    click.echo("attnspec: " + " ".join(message.split()), err=True)
