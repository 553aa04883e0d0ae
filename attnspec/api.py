"""Verification from Python: in this process, outcome by outcome."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from attnspec.errors import one_of
from attnspec.loading import load
from attnspec.specs.backend import Backend
from attnspec.specs.cases import PROFILES, Profile
from attnspec.specs.outcome import Outcome
from attnspec.specs.verify import verify as verify_backend


def verify(
    target: str | Path | ModuleType | Backend, *, profile: str = "default", seed: int = 0, only: Iterable[str] = ()
) -> Iterator[Outcome]:
    """Hold a backend to the catalogue; an outcome for each invariant that ``only`` (patterns) chooses, all without it.

    ``target`` is a backend's name, a file, a dotted module, a module, or what ``load`` gave. ValueError if it is none.
    """
    backend = target if isinstance(target, Backend) else load(target)
    return verify_backend(backend, named_profile(profile, seed), tuple(only))


def named_profile(name: str, seed: int = 0) -> Profile:
    """The profile called ``name``, with a seed. ValueError if there is none."""
    return replace(PROFILES[one_of("profile", name, PROFILES)], seed=seed)
