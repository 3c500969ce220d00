"""Containers of Python's library: counters and heaps."""
