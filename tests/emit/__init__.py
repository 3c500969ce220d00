"""Tests of emission to StableHLO."""
