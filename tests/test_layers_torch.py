"""The encoder and its masks, and their definition, give what PyTorch's own modules give for the same weights."""

import pytest

from attnspec.impls import layers
from attnspec.specs.catalogue import hold
from attnspec.specs.layers.case import Case
from attnspec.specs.layers.definition import causal
from attnspec.specs.layers.rounded import exact
from attnspec.specs.layers.solution import defined

torch = pytest.importorskip("torch")

RENAMED = {
    "self_attn.out_proj": "attention.output",
    "linear1": "feed_forward.inner",
    "linear2": "feed_forward.outer",
    "norm1": "attention_norm",
    "norm2": "feed_forward_norm",
}


def of_pytorch(state):
    """A state dict of torch.nn.TransformerEncoder under our names; the map in one is taken apart."""
    ours = {}
    for name, array in state.items():
        for theirs, renamed in RENAMED.items():
            name = name.replace(theirs, renamed)
        if "in_proj_" in name:
            prefix, kind = name.replace("self_attn", "attention").split("in_proj_")
            ours |= {f"{prefix}{n}.{kind}": a for n, a in zip(("query", "key", "value"), array.chunk(3), strict=True)}
        else:
            ours[name] = array
    return ours


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("is_causal", [False, True])
def test_encoder_is_pytorchs(norm_first, activation, is_causal):
    torch.manual_seed(0)
    theirs = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(12, 3, 20, 0.0, activation, batch_first=True, norm_first=norm_first),
        2,
        torch.nn.LayerNorm(12) if norm_first else None,
        enable_nested_tensor=False,
    ).double()
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    ours = layers.Encoder(layers.EncoderLayer(12, 3, 20, activation, norm_first), 2)
    parameters = {name: array.detach() for name, array in of_pytorch(theirs.state_dict()).items()}
    x, mask = torch.randn(2, 5, 12).double(), layers.padding_mask(torch.tensor([3, 5]), 5)
    hidden = ~torch.ones(5, 5).tril().bool() if is_causal else None
    wanted = theirs(x, hidden, src_key_padding_mask=~mask[:, 0, 0]).detach()
    came = ours(parameters, x, mask=mask, is_causal=is_causal)
    case = Case("float64", norm_first=norm_first, activation=activation, epsilon=1e-5)
    seen = mask.numpy() & causal(5) if is_causal else mask.numpy()
    in_numpy = {name: array.numpy() for name, array in parameters.items()}
    exactly = defined("Encoder", exact(x.numpy(), "float64"), None, in_numpy, case, 2, seen)
    hold("PyTorch's", wanted.numpy(), exactly.value, exactly.error)
    hold("ours", came.numpy(), exactly.value, exactly.error)
