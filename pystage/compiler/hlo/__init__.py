"""HLO IR: typed SSA with regions. The types, the program, its builder, verifier, printer and interpreter."""
