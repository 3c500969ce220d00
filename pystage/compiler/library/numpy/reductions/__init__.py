"""Reductions, extrema, statistics, scans, sorting and searching."""
