"""Rewrites of HLO IR: a function in, an equivalent one out. `pipeline.py` and `runtime/primitive.py` give their order."""
