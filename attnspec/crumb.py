"""What a worker is doing right now, noted in files before each call, so that it is known when the process dies.

One file holds a counter, and one of its neighbours each of the last notes with the counter's value; the kernel keeps
what was written, whatever becomes of the writer.
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

_HEAD = struct.Struct("<Q")

KEPT = 32
"""So many notes are kept."""


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
    """The files, open for writing notes."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDWR)
        self.places = [os.open(_place(path, number), os.O_RDWR | os.O_CREAT) for number in range(KEPT)]
        self.count = 0

    def write(self, note: Note) -> None:
        """Put the note in the place of the oldest one."""
        case = None if note.case is note.call else _parts(note.case)
        text = pickle.dumps((note.invariant, case, _parts(note.call), note.how), protocol=5)
        self.count += 1
        os.pwrite(self.places[self.count % KEPT], _HEAD.pack(self.count) + text, 0)
        os.pwrite(self.fd, _HEAD.pack(self.count), 0)


def count(path: str) -> int:
    """How many notes were written."""
    with open(path, "rb") as file:
        return _counter(file.read(_HEAD.size))


def history(path: str) -> list[Note]:
    """The last notes, the latest at the end."""
    last = count(path)
    notes = (_note(_place(path, number % KEPT), number) for number in range(max(last - KEPT, 0) + 1, last + 1))
    return [note for note in notes if note is not None]


def _note(place: str, number: int) -> Note | None:
    """The note of that number; None if it is being written over."""
    with open(place, "rb") as file:
        if _counter(file.read(_HEAD.size)) != number:
            return None
        invariant, case, call, how = pickle.load(file)
    made = _problem(call)
    return Note(invariant, made if case is None else _problem(case), made, how)


def _place(path: str, number: int) -> str:
    return f"{path}.{number}"


def _counter(head: bytes) -> int:
    return int(_HEAD.unpack(head)[0]) if len(head) == _HEAD.size else 0


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
