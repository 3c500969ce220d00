"""Iteration in Python's library: iterables, iterators, generators and ranges."""
