"""Resident memory: how much a process holds, with all that it started, and how much a target may hold.

Address space says nothing: array libraries reserve far more of it than they ever touch.
"""

import contextlib
from pathlib import Path

import psutil

GIB = 2**30

CGROUP = Path("/sys/fs/cgroup/memory.max")
"""Where a container on Linux is told its limit."""


def resident(pid: int) -> int:
    """Bytes of the process and its descendants; 0 if it is gone."""
    total = 0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for each in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += each.memory_info().rss
    return total


def share(at_once: int) -> float:
    """GiB that each of so many targets may hold at once: together three quarters of the machine's."""
    whole = int(psutil.virtual_memory().total)
    with contextlib.suppress(OSError, ValueError):
        whole = min(whole, int(CGROUP.read_text()))  # "max" where there is none
    return 0.75 * whole / at_once / GIB
