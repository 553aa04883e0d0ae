"""The whole of what an outsider writes."""

import attnspec


@attnspec.parametrize("outsider.attention", profile="quick")
def test_attention(check):
    check()
