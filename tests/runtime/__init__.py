"""Tests of the runtime on programs built by hand, so that they fail for its own faults only."""
