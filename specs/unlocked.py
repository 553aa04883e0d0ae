"""functools.cached_property without the lock that Python 3.11 takes for it, a tenth of the time of a small problem."""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:
    import functools

    class cached_property(functools.cached_property):  # of the same name, for it is the same
        """As in Python 3.12."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            """The value; where threads meet it is computed by each."""
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
