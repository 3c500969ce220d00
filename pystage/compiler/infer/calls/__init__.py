"""Calls: binding, invocation, and function summaries, one for each canonical form of the arguments."""
