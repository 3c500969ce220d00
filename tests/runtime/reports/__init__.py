"""Tests of `runtime/reports/`."""
