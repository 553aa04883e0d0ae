"""In which forms an option of ours is handed over, the plainest first, each told in words."""

FAR = "tuple(max(*query.shape, *key.shape) if n is None else n for n in {})"

FORMS: dict[str, dict[str, str]] = {
    "mask": {
        "{}": "as it is",
        "{}[(None,) * (query.ndim - {}.ndim) + (...,)]": "with as many axes as query",
    },
    "bias": {
        "{}": "as it is",
        "{}[(None,) * (query.ndim - {}.ndim) + (...,)]": "with as many axes as query",
    },
    "scale": {"{}": "factor of the scores", "1 / {}": "divisor of the scores"},
    "window": {
        "{}": "(left, right), None for open",
        "tuple(-1 if n is None else n for n in {})": "(left, right), -1 for open",
        FAR: "(left, right), a large number for open",
    },
    "key_lengths": {
        "{}": "as they are",
        "{}.reshape(-1)": "with an axis",
        "{}.reshape(-1).astype('int32')": "as int32",
        "{}.reshape(-1).int()": "as int32",
    },
}
"""Option → expression of its value, as a format string → what it is in words; what is not here is handed over as is."""

AS_IS = {"{}": "as it is"}


def forms(option: str) -> dict[str, str]:
    """The forms to try for an option."""
    return FORMS.get(option, AS_IS)
