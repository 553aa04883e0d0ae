"""The most memory that a process holds while it does something, beyond what it held before."""

import contextlib
import ctypes
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from attnspec.memory import CGROUP

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
"""Where Linux tells the peak ("VmHWM"), and where writing 5 sets it to the present."""

MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1
"""glibc's parameters, of mallopt(3): from which size memory is taken from the system, and given back at once when it is
freed; how much is kept at the heap's end."""

SMALL, LARGE = 2**16, 2**25
"""A threshold at which arrays count; and the one that glibc's own adaptation ends at in a process that frees arrays."""

LOOK = 0.001
"""Seconds between two looks where there is no such thing."""


def resident() -> int:
    """Bytes that this process holds now, once what it does not need is given back."""
    gc.collect()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # not every libc has it
            ctypes.CDLL(None).malloc_trim(0)
    return int(psutil.Process().memory_info().rss)


@contextlib.contextmanager
def returned() -> Iterator[None]:
    """Inside, freed arrays leave the process at once, so that what an earlier call has freed is not there for the next.

    Afterwards they stay as in any process that has run for a while.
    """
    _mallopt({MMAP_THRESHOLD: SMALL})
    try:
        yield
    finally:
        _mallopt({MMAP_THRESHOLD: LARGE, TRIM_THRESHOLD: 2 * LARGE})


def _mallopt(parameters: dict[int, int]) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            for name, value in parameters.items():
                ctypes.CDLL(None).mallopt(name, value)


def peak(call: Callable[[], object]) -> int:
    """The largest number of bytes held at any time while ``call`` runs and its result is alive."""
    resident()
    try:
        RESET.write_text("5")
    except OSError:
        return _sampled(call)
    result = call()
    held = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
    del result
    return 1024 * int(held.split()[1])


def _sampled(call: Callable[[], object]) -> int:
    """The same by looking again and again; a short peak may be missed."""
    with _watched() as most:
        result = call()
        most.append(int(psutil.Process().memory_info().rss))
        del result
    return max(most)


@contextlib.contextmanager
def _watched() -> Iterator[list[int]]:
    process, most, stopped = psutil.Process(), [0], threading.Event()

    def look() -> None:
        while not stopped.wait(LOOK):
            most[0] = max(most[0], int(process.memory_info().rss))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        stopped.set()
        thread.join()


def available() -> int:
    """Bytes that can be had on this machine, or in this container, without swapping."""
    free = int(psutil.virtual_memory().available)
    with contextlib.suppress(OSError, ValueError):
        free = min(free, int(CGROUP.read_text()) - int((CGROUP.parent / "memory.current").read_text()))
    return free
