"""Analyses of HLO IR and stage IR, which change nothing: intervals, induction, def-use, liveness, shared buffers."""
