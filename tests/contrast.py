"""How well two colours are told apart."""


def contrast(first, second):
    """WCAG 2.1, contrast ratio."""
    lights = sorted(
        sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(x), strict=True)) for x in (first, second)
    )
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def linear(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
