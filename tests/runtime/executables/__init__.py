"""Tests of `runtime/executables/`."""
