"""Every backend of the tree is held to every invariant."""

import attnspec
from attnspec.targets import backend_names


@attnspec.parametrize(backend_names())
def test_backend(check):
    check()
