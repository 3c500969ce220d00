"""Tests of calls of what pystage does not know."""
