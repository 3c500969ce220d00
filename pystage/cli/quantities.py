"""Numbers for people: `1.2 M`, `3.4 MiB`."""

from __future__ import annotations

_LARGE = 1000
_FEW = 10


def amount(number: float) -> str:
    """A count with three figures: 950, 1.2 k, 35 M."""
    return _scaled(number, 1000, ("", " k", " M", " G", " T", " P"))


def bytes_text(number: float) -> str:
    """A number of bytes: 12 B, 3.4 KiB."""
    return _scaled(number, 1024, (" B", " KiB", " MiB", " GiB", " TiB"))


def _scaled(number: float, step: int, units: tuple[str, ...]) -> str:
    last = len(units) - 1
    power = 0
    while abs(number) >= _LARGE and power < last:
        number /= step
        power += 1
    digits = 1 if power and abs(number) < _FEW else 0
    return f"{number:.{digits}f}{units[power]}"
