"""Iterators, and lists that a loop appends to."""
