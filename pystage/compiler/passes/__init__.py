"""Rewrites of HLO IR: a function in, an equivalent out. `pipeline.py` and `executables/primitive.py` give their order."""
