"""Bad sizes: one ValueError when the layer is made."""

from attnspec.specs.layers.case import Case
from attnspec.specs.layers.catalogue import layer_invariant, once
from attnspec.specs.layers.library import Library


@layer_invariant(
    "refuses_heads",
    formula="h ∤ E or h < 1: ValueError",
    source="Vaswani et al. 2017, section 3.2.2: d_k = E/h",
    suits=once,
)
def refuses_heads(library: Library, case: Case) -> float:
    """A number of heads that does not divide the width, or is below 1, is refused when the layer is made."""
    for heads in (5, 0, -case.heads):
        library.refusal(library.has("MultiHead"), case.width, heads)
        library.refusal(library.has("EncoderLayer"), case.width, heads, case.hidden)
    return 0.0


@layer_invariant(
    "refuses_groups",
    formula="h_kv ∤ h: ValueError",
    source="Ainslie et al. 2023, section 2.2: groups of h/h_kv query heads",
    suits=once,
)
def refuses_groups(library: Library, case: Case) -> float:
    """A number of key/value heads that does not divide the query heads is refused when the layer is made."""
    library.refusal(library.has("MultiHead"), case.width, 4, 3)
    return 0.0


@layer_invariant(
    "refuses_rates",
    formula="a rate of dropout p < 0 or p > 1: ValueError",
    source="Srivastava et al. 2014, section 4: p is a probability",
    suits=once,
)
def refuses_rates(library: Library, case: Case) -> float:
    """A rate of dropout that is no probability is refused when the layer is made, not when it drops."""
    for rate in (-0.1, 1.5):
        library.refusal(library.has("EncoderLayer"), case.width, case.heads, case.hidden, dropout=rate)
    return 0.0
