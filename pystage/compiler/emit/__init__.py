"""From HLO IR to StableHLO inside a module of JAX: `simplify`, then `stablehlo`."""
