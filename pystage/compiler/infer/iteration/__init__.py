"""Iterators, generators, and lists that a loop appends to."""
