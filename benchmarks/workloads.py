"""What is timed: attention of the sizes and options that models have, by name."""

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass, replace

from attnspec.specs.contract import nearest


@dataclass(frozen=True)
class Workload:
    """query (batch, heads, queries, width) over key and value (batch, kv_heads, keys, width), Gaussian."""

    name: str
    queries: int
    keys: int
    batch: int = 1
    heads: int = 8
    kv_heads: int = 8
    width: int = 64
    dtype: str = "float32"
    is_causal: bool = False
    window: tuple[int | None, int | None] | None = None
    masked: bool = False
    """With a boolean mask (1, 1, queries, keys) that shows half of the keys, and each query its own."""
    backward: bool = False
    """Forward and backward, by query, key and value."""
    lengths: tuple[int, ...] = ()
    """Of packed sequences, one behind the other; their sum is the number of queries and of keys."""

    @property
    def what(self) -> str:
        """Which of the two is timed."""
        return "forward+backward" if self.backward else "forward"

    @property
    def family(self) -> str:
        """What it has in common with those that differ from it in the numbers of queries and keys alone."""
        return "-".join(part for part in self.name.split("-") if not part.isdecimal())

    @property
    def options(self) -> tuple[str, ...]:
        """The names of what it asks for beside query, key and value."""
        asked = {"is_causal": self.is_causal, "window": self.window, "mask": self.masked, "packed": self.lengths}
        return tuple(name for name, value in asked.items() if value)

    @property
    def sizes(self) -> dict[str, int]:
        """Its shape in the letters of the suite."""
        heads = {"B": self.batch, "Hq": self.heads, "Hkv": self.kv_heads}
        return {**heads, "L": self.queries, "S": self.keys, "Dk": self.width, "Dv": self.width}

    def shrunk(self, factor: int) -> "Workload":
        """The same over so many times fewer queries and keys, or packed sequences."""
        if self.lengths:
            lengths = self.lengths[: max(len(self.lengths) // factor, 1)]
            return replace(self, lengths=lengths, queries=sum(lengths), keys=sum(lengths))
        return replace(self, queries=max(self.queries // factor, 1), keys=max(self.keys // factor, 1))


def square(name: str, length: int, **more: object) -> Workload:
    """Self-attention."""
    return Workload(name, length, length, **more)  # type: ignore[arg-type]  # the fields' own types


PACKED = tuple(16 + 37 * number % 113 for number in range(32))
"""Lengths from 16 to 128, as sentences have them."""

_ALL = (
    *(square(f"prefill-{n}", n) for n in (256, 512, 1024, 2048, 4096, 8192)),
    *(square(f"prefill-causal-{n}", n, is_causal=True) for n in (256, 512, 1024, 2048, 4096, 8192)),
    *(square(f"backward-{n}", n, backward=True) for n in (512, 1024, 2048, 4096, 8192)),
    square("backward-causal-1024", 1024, backward=True, is_causal=True),
    *(square(f"prefill-{d}-{n}", n, dtype=d) for d in ("bfloat16", "float16") for n in (1024, 4096)),
    square("prefill-causal-bfloat16-1024", 1024, dtype="bfloat16", is_causal=True),
    square("backward-bfloat16-1024", 1024, dtype="bfloat16", backward=True),
    Workload("cross-256-2048", 256, 2048),
    Workload("decode-8192", 1, 8192),
    Workload("decode-bfloat16-8192", 1, 8192, dtype="bfloat16"),
    Workload("decode-batch-2048", 1, 2048, batch=16),
    square("gqa-1024", 1024, kv_heads=2),
    square("masked-1024", 1024, masked=True),
    square("masked-backward-1024", 1024, masked=True, backward=True),
    square("window-4096", 4096, window=(255, 0)),
    square("window-causal-4096", 4096, window=(255, 0), is_causal=True),
    Workload("packed-32", sum(PACKED), sum(PACKED), lengths=PACKED),
    Workload("packed-causal-32", sum(PACKED), sum(PACKED), lengths=PACKED, is_causal=True),
    square("vit-base", 197, batch=8, heads=12, kv_heads=12),
    square("bert-base", 512, batch=4, heads=12, kv_heads=12),
    square("llama-8b-prefill", 1024, heads=32, width=128, is_causal=True, dtype="bfloat16"),
    Workload("llama-8b-decode", 1, 4096, heads=32, width=128, dtype="bfloat16"),
)

WORKLOADS = {workload.name: workload for workload in _ALL}

QUICK = ("prefill-1024", "decode-8192", "backward-512")
"""A first look."""


def chosen(patterns: Iterable[str], dtypes: Iterable[str] = ()) -> tuple[Workload, ...]:
    """Those whose names match a pattern such as "prefill-*", all without one, in one of the dtypes if some are given.

    ValueError for a pattern that matches none, and if nothing is left.
    """
    patterns, dtypes = tuple(patterns), tuple(dtypes)
    for pattern in patterns:
        if not fnmatch.filter(WORKLOADS, pattern):
            hint = nearest(pattern.rstrip("*"), WORKLOADS, f"; workloads are {', '.join(WORKLOADS)}")
            raise ValueError(f"--workload: wanted a workload's name or pattern, came {pattern!r}{hint}")
    named = [w for w in _ALL if not patterns or any(fnmatch.fnmatch(w.name, pattern) for pattern in patterns)]
    found = tuple(workload for workload in named if not dtypes or workload.dtype in dtypes)
    if not found:
        raise ValueError(f"--dtype: wanted one that a chosen workload has, came {', '.join(dtypes)}")
    return found
