"""Sums, extrema, statistics, scans, and order."""
