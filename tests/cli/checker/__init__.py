"""Tests of `pystage check`."""
