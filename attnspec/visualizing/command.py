"""``attnspec visualize``: where a token of a sentence attends, as a picture, as a page, and in words."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from attnspec.text import say
from attnspec.visualizing.sentence import SPECIAL, Sentence, read

SHOWN = 8
"""So many tokens and heads are named."""


def visualize(
    text: str,
    token: str,
    nth: int,
    arrays: str,
    layer: int | None,
    head: int | None,
    png: Path,
    html: Path,
) -> int:
    """Write both files, and print the tokens that ``token`` attends to most. ValueError for what is not there."""
    if png.resolve() == html.resolve():
        raise ValueError(f"--html: wanted another file than --png, came {html} for both")
    sentence = read(text, arrays)
    rows = sentence.rows_of(token, nth)
    layers, heads = (
        picked(*one) for one in zip(("--layer", "--head"), (layer, head), sentence.weights.shape, strict=False)
    )
    weights = sentence.weights[:, :, rows].mean(2)  # (layers, heads, n): a word attends as its pieces do on average
    some = weights[np.ix_(layers, heads)]
    from attnspec.visualizing.page import write
    from attnspec.visualizing.picture import draw

    draw(png, sentence.tokens, some, token, [number + 1 for number in layers], [number + 1 for number in heads])
    write(html, sentence.tokens, sentence.weights, text, rows, layer, head)
    tell(sentence, token, rows, some, layers, heads)
    print(f"picture: {png}\npage: {html}")
    return 0


def picked(option: str, number: int | None, count: int) -> list[int]:
    """All ``count``, or the one with that number, from 1. ValueError for a number out of range."""
    if number is not None and not 1 <= number <= count:
        raise ValueError(f"{option}: wanted 1 to {count}, came {number}")
    return list(range(count)) if number is None else [number - 1]


def tell(
    sentence: Sentence, token: str, rows: list[int], weights: NDArray[Any], layers: list[int], heads: list[int]
) -> None:
    """Print the notice of truncation, the tokens of the largest mean weight, and the heads that look the hardest."""
    console = Console()
    if sentence.left_out:
        say(console, f"the sentence is too long: its last {sentence.left_out} tokens are left out", style="yellow")
    mean = weights.mean((0, 1))
    others = [i for i, piece in enumerate(sentence.tokens) if piece not in SPECIAL and i not in rows]
    whole = len(layers) == len(heads) == 1
    kinds = ", ".join(counted(kind, some) for kind, some in (("layer", layers), ("head", heads)))
    say(console, f"“{token}” attends to, in {'' if whole else 'the mean of '}{kinds}:")
    table = Table(box=None, show_header=False, padding=(0, 1))
    for i in sorted(others, key=lambda i: -mean[i])[:SHOWN]:
        table.add_row("", sentence.tokens[i], f"{100 * mean[i]:.1f} %")
    console.print(table)
    special = sum(mean[i] for i, piece in enumerate(sentence.tokens) if piece in SPECIAL)
    say(console, f"  and {100 * special:.1f} % to [CLS] and [SEP], {100 * mean[rows].sum():.1f} % to itself")
    say(console, "the heads that look hardest at one other word:")
    for line in hardest(sentence, weights, others, layers, heads):
        say(console, line)


def counted(kind: str, some: list[int]) -> str:
    """One by its number, "layer 6"; several by how many there are, "6 layers"."""
    return f"{kind} {some[0] + 1}" if len(some) == 1 else f"{len(some)} {kind}s"


def hardest(
    sentence: Sentence, weights: NDArray[Any], others: list[int], layers: list[int], heads: list[int]
) -> list[str]:
    """A line for each of the largest weights."""
    some = weights[:, :, others]
    order = np.argsort(-some, axis=None)[:SHOWN]
    places = zip(*np.unravel_index(order, some.shape), strict=True)
    return [
        f"  layer {layers[n] + 1}, head {heads[h] + 1}: {sentence.tokens[others[i]]} {100 * some[n, h, i]:.1f} %"
        for n, h, i in places
    ]
