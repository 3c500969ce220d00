"""Tests of the rewrites of HLO IR."""
