"""Tests of `runtime/dispatch/`."""
