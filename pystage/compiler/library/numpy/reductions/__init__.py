"""Sums, extrema, statistics, running sums, and order."""
