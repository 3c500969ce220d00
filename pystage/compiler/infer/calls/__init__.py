"""Calls: binding, invocation, and functions that are inferred once for each kind of arguments."""
