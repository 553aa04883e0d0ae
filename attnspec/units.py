"""Numbers as people read them: three digits, and a unit near them."""

import math

ABSENT = "–"

TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
SIZES = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))


def digits(value: float | None) -> str:
    """Three significant digits, without an exponent where that is short: 0.0123, 1.5, 1230."""
    if value is None:
        return ABSENT
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "−∞"}.get(value, "NaN")
    if value and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.1e}"
    value = float(f"{value:.3g}")  # 0.9999 has as many digits as 1
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}" if value else "0"


def seconds(value: float | None) -> str:
    """A time: 1.23 ms."""
    return _scaled(value, TIMES)


def size(value: float | None) -> str:
    """Bytes: 12.3 MiB."""
    return _scaled(value, SIZES)


def percent(value: float | None) -> str:
    """A share of 1: 87 %."""
    return ABSENT if value is None else f"{100 * value:.0f} %"


def ratio(value: float | None) -> str:
    """How many times as much: 1.25×."""
    return ABSENT if value is None else f"{value:.2f}×"


def _scaled(value: float | None, units: tuple[tuple[float, str], ...]) -> str:
    if value is None:
        return ABSENT
    factor, unit = next((each for each in units if abs(value) >= each[0]), units[-1])
    return f"{digits(value / factor)} {unit}"
