"""Many lanes at once: HLO IR in, HLO IR out. The rules stand in the classes of the operations."""
