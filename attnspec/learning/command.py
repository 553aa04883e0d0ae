"""``attnspec learn``: train a small encoder-decoder, show how it goes, and what it can do in the end."""

import importlib.util
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from attnspec.learning.task import Task, spelled
from attnspec.learning.training import Run, learn

TASK = Task(shortest=3, longest=7)

WANTED = 0.99
"""The share of held-out sequences that a model with positions translates right."""

SHOWN = 4

NEEDS = {"torch": ("torch", "matplotlib"), "jax": ("jax", "optax", "matplotlib")}


def learn_command(arrays: str, positions: bool, steps: int, seed: int, png: Path) -> int:
    """Train, translate what was held out, draw the losses. 0: more than 99 % are right; 1: not so."""
    if arrays not in NEEDS:
        raise ValueError(f"learn: wanted {' or '.join(NEEDS)}, which give gradients, came {arrays!r}")
    for package in NEEDS[arrays]:
        if importlib.util.find_spec(package) is None:
            raise ValueError(f"learn: wanted the package {package}, came none: pip install 'attnspec[learn]'")
    check_writable(png)
    console, start = Console(), time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("loss      ", total=steps)

        def show(step: int, loss: float) -> None:
            progress.update(bar, completed=step + 1, description=f"loss {loss:.3f}")

        run = learn(arrays, TASK, positions=positions, steps=steps, seed=seed, progress=show)
    draw(png, run)
    for source, target in list(zip(run.examples.sources, run.translations, strict=True))[:SHOWN]:
        console.print(f"  {' '.join(str(i - 3) for i in source.tolist() if i)} → {spelled(target)}", highlight=False)
    console.print(
        f"{100 * run.accuracy:.1f} % of {len(run.translations)} held-out sequences translated without a mistake, "
        f"after {steps} steps in {time.perf_counter() - start:.0f} s\nloss curve: {png}",
        highlight=False,
        soft_wrap=True,
    )
    return 0 if run.accuracy > WANTED else 1


def check_writable(path: Path) -> None:
    """ValueError for a file that cannot be written, before the time is spent."""
    try:
        path.open("ab").close()
    except OSError as error:
        raise ValueError(f"learn: wanted a file to write, came {str(path)!r} ({error.strerror})") from error


def draw(path: Path, run: Run) -> None:
    """Write the loss at each step as a PNG."""
    from matplotlib.figure import Figure  # not pyplot: no window, no state

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(run.losses)
    axes.set(yscale="log", xlabel="step", ylabel="cross-entropy per token", title="digits to words, backwards")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120, format="png")
