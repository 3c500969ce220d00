"""Batching (`vmap`): HLO IR in, HLO IR out. The batching rules stand in the classes of the operations."""
