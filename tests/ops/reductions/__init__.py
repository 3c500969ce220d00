"""Tests of reductions."""
