"""Verify any attention implementation against an exact oracle, with computed error bounds."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnspec.api import verify
    from attnspec.loading import load
    from attnspec.testing import parametrize

    __version__: str

__all__ = ["__version__", "load", "parametrize", "verify"]

_HOMES = {"load": "attnspec.loading", "parametrize": "attnspec.testing", "verify": "attnspec.api"}


def __getattr__(name: str) -> Any:
    """Import what is asked for, and only then: ``import attnspec`` loads neither NumPy nor a framework."""
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("attnspec")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'attnspec' has no attribute {name!r}")
