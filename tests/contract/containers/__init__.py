"""Containers whose contents only the run knows: counters, heaps, dicts of arrays."""
