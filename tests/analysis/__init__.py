"""Tests of the analyses of HLO IR."""
