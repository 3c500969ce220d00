"""Tests of `runtime/results/`."""
