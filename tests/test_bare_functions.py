"""Probing a framework's own function, bare, gives back what our adapter around it declares."""

import pytest
from probing import agree, declared, probed, timed

from attnspec.specs.contract import claimed_options
from attnspec.targets import find

PEERS = {
    "torch.nn.functional:scaled_dot_product_attention": "torch_sdpa",
    "jax.nn:dot_product_attention": "jax_dot_product_attention",
    "flax.linen:dot_product_attention": "flax_linen",
    "flax.nnx:dot_product_attention": "flax_nnx",
    "mlx.core.fast:scaled_dot_product_attention": "mlx_fast_sdpa",
}


BY_KEY = {"dropout_rate", "seed"}
UNTOLD = {
    "flax.linen:dot_product_attention": BY_KEY,  # which probing asks for: it is given a key, not a seed
    "flax.nnx:dot_product_attention": BY_KEY,
    "mlx.core.fast:scaled_dot_product_attention": {"is_causal"},  # a word that the mask's parameter takes
}


@pytest.mark.parametrize("target", timed((target,) for target in PEERS))
def test_bare_function_gives_what_our_adapter_declares(target):
    pytest.importorskip(target.partition(":")[0])
    found, said = probed(target), declared(PEERS[target])
    other = {name: (said.conventions[name], value) for name, value in found.conventions.items()}
    assert {name: pair for name, pair in other.items() if not agree(name, *pair)} == {}
    unseen = UNTOLD.get(target, set())
    assert found.adapter.lacks == {lack - {"cpu"} for lack in said.lacks if not lack & unseen}
    assert set(found.adapter.claimed) == set(claimed_options(find(PEERS[target]).attention)) - unseen
