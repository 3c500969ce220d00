"""Expressions, statements, calls, classes and containers of Python."""
