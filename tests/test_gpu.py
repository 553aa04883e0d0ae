"""The backends of the tree, and the layers, on a GPU; each test is skipped, with the reason, where there is none."""

import pytest

from attnspec.api import verify
from attnspec.errors import Unavailable
from attnspec.layers import load as load_layers
from attnspec.loading import load
from attnspec.specs.layers.catalogue import layer_catalogue, verify_layers
from attnspec.targets import backend_names

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("name", [name for name in backend_names() if not name.startswith("numpy")])
def test_backend_on_cuda(name):
    try:
        backend = load(name, device="cuda")
    except Unavailable as error:
        pytest.skip(str(error))
    failures = {o.invariant: o.failure or o.reason for o in verify(backend) if o.status == "failed"}
    assert failures == {}


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_layers_on_cuda(name):
    try:
        library = load_layers(name, "cuda")
    except Unavailable as error:
        pytest.skip(str(error))
    failures = {o.invariant: o.reason for o in verify_layers(library, layer_catalogue()) if o.status != "passed"}
    assert failures == {}
