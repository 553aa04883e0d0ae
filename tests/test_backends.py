"""Every backend of our own is held to every invariant."""

import attnspec
from attnspec.targets import own_names


@attnspec.parametrize(own_names())
def test_backend(check):
    check()
