"""Containers of Python's library: counters, deques and heaps."""
