"""Tests of HLO IR: types, builder, verifier, printer, interpreter."""
