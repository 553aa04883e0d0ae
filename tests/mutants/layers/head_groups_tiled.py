"""Grouped heads become maps of their own in the wrong order."""

from attnspec.impls import layers
from attnspec.impls.layers import *  # noqa: F403

ARRAYS = "numpy"
KILLED_BY = "layers.two_forms"
REPORTS = ()


def per_head(layer, parameters):
    found = layers.per_head(layer, parameters)
    group = layer.heads // layer.widths[0]
    for head in range(layer.heads):
        for name in ("key.weight", "key.bias", "value.weight", "value.bias"):
            found[f"heads.{head}.{name}"] = layers.per_head(layer, parameters)[
                f"heads.{head % layer.widths[0] * group}.{name}"
            ]
    return found
