"""Right layers of another make are not found wrong: PyTorch's own modules, under our names."""

from pathlib import Path

import pytest

from attnspec.layers import load
from attnspec.specs.layers.case import cases
from attnspec.specs.layers.catalogue import examine_layers, layer_catalogue
from attnspec.specs.outcome import NOT_CLAIMED, PASSED

MODULES = Path(__file__).parent / "controls" / "layers" / "torch_modules.py"
HAS_NOT = {"self_attention", "grouped_heads", "two_forms", "rotary", "positions", "positions_order", "masks"}
HAS_NOT |= {"sequential_steps", "operations", "path_length", "cached_attention", "cached_decoding", "greedy"}
HAS_NOT |= {"transformer", "evaluation", "dropout", "truncation", "padded_source", "causality"}
HAS_NOT |= {"refuses_length", "refuses_groups", "dropout_places", "dropout_transformer", "grouped_rotary_layer"}
HAS_NOT |= {"final_norm", "rotary_base", "score_bias"}
HAS_NOT |= {"refuses_length", "refuses_lengths", "refuses_groups", "refuses_past"}


@pytest.mark.parametrize("id", layer_catalogue())
def test_pytorchs_modules_pass(id):
    pytest.importorskip("torch")
    outcome = examine_layers(layer_catalogue()[id], load(str(MODULES), None), cases(seed=1))
    assert outcome.status == (NOT_CLAIMED if id.removeprefix("layers.") in HAS_NOT else PASSED), outcome.reason
