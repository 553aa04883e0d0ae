"""The whole of what an outsider writes."""

import attnspec


@attnspec.parametrize("outsider.attention")
def test_attention(check):
    check()
