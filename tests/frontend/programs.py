"""Programs under test that must not stand in a test module, where pytest rewrites `assert`."""

from __future__ import annotations


def asserts(x, log):
    """With messages, evaluated only when they are needed."""
    assert x > 0, log.append("message") or f"bad {x}"
    assert x != 5
    assert (x, 1)[0], (1, 2)
    return x
