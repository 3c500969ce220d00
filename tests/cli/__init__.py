"""Tests of the command `pystage`."""
