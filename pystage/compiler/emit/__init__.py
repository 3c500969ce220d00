"""Emission of HLO IR as StableHLO, inside a module of JAX or as one of its own."""
