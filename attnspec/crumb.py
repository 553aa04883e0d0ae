"""What a worker is doing right now, noted in a file before each call, so that it is known when the process dies.

The file holds a counter and then the note; the kernel keeps what was written, whatever becomes of the writer.
"""

import hashlib
import os
import pickle
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnspec.specs.contract import FUNCTIONS
from attnspec.specs.problem import Problem

_HEAD = struct.Struct("<QQ")


@dataclass(frozen=True)
class Note:
    """A call about to be made: for which invariant ("" while the claims are surveyed) on which case, and how."""

    invariant: str
    case: Problem
    call: Problem
    how: str

    @property
    def key(self) -> str:
        """The same for the same call in another process."""
        return f"{self.how}:{fingerprint(self.call)}"

    @property
    def function(self) -> str:
        """Which of the module's functions is called."""
        return next((word for word in self.how.split("+") if word in FUNCTIONS), "attention")


class Crumb:
    """The file, open for writing notes."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDWR)
        self.count = 0

    def write(self, note: Note) -> None:
        """Put the note in the place of the last one."""
        case = None if note.case is note.call else _parts(note.case)
        text = pickle.dumps((note.invariant, case, _parts(note.call), note.how), protocol=5)
        self.count += 1
        os.pwrite(self.fd, text, _HEAD.size)
        os.pwrite(self.fd, _HEAD.pack(self.count, len(text)), 0)


def count(path: str) -> int:
    """How many notes were written."""
    head = _head(path)
    return 0 if head is None else head[0]


def read(path: str) -> Note | None:
    """The last note, if there is one."""
    head = _head(path)
    if head is None:
        return None
    with open(path, "rb") as file:
        file.seek(_HEAD.size)
        invariant, case, call, how = pickle.loads(file.read(head[1]))
    made = _problem(call)
    return Note(invariant, made if case is None else _problem(case), made, how)


def _head(path: str) -> tuple[int, int] | None:
    with open(path, "rb") as file:
        head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    counter, length = _HEAD.unpack(head)
    return counter, length


def _parts(problem: Problem) -> tuple[Any, ...]:
    return problem.query, problem.key, problem.value, dict(problem.options), problem.seed, problem.recipe


def _problem(parts: tuple[Any, ...]) -> Problem:
    return Problem(*parts)


def fingerprint(problem: Problem) -> str:
    """The same for equal problems, whatever process made them."""
    digest = hashlib.sha1(usedforsecurity=False)
    named = {"query": problem.query, "key": problem.key, "value": problem.value, **problem.options}
    for name in sorted(named):
        value = named[name]
        array = isinstance(value, np.ndarray)
        digest.update(f"{name} {value.dtype} {value.shape} ".encode() if array else f"{name} {value!r} ".encode())
        digest.update(value.tobytes() if array else b"")
    return digest.hexdigest()
