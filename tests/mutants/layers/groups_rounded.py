"""Query heads that no key/value head is left for share the last one."""

from dataclasses import dataclass

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.refuses_groups"
REPORTS = ()


@dataclass(frozen=True)
class MultiHead(layers.MultiHead):
    def check(self):
        self.want(self.width % self.heads == 0, "heads that divide the width", self.heads)
