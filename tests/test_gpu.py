"""The backends of the tree on a GPU; each test is skipped, with the reason, where there is none."""

import pytest

from attnspec.api import verify
from attnspec.errors import Unavailable
from attnspec.loading import load
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
