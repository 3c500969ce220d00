"""The fixtures of these tests."""

from .checker.checking import check

__all__ = ["check"]
