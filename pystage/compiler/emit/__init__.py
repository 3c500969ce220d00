"""From HLO IR to StableHLO, inside a module of JAX or as one of its own."""
