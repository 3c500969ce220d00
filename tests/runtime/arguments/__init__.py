"""Tests of `runtime/arguments/`."""
