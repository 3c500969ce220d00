"""The fixtures of these tests."""

from .checking import check

__all__ = ["check"]
