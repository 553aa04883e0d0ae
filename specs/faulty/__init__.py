"""Published faults, a module a kind; importing them fills the registry, in this order."""

from attnspec.specs.faulty import options, masks, visibility, heads, softmax  # noqa: F401, I001
from attnspec.specs.faulty.registry import FAULTS

__all__ = ["FAULTS"]
