"""Tests of simplification and of emission to StableHLO."""
