"""The softcap is declared a known issue, but it is right."""

from attnspec.mutants.correct.numpy_steps import Steps

ARRAYS = "numpy"
KNOWN_ISSUES = {"softcap": "capped scores come out wrong"}
KILLED_BY = "contract.known_issues"
REPORTS = ()


def attention(query, key, value, *, mask=None, softcap=None):
    return Steps.attention(query, key, value, mask=mask, softcap=softcap)
