"""Calls of code that pystage does not know: functions that JAX traces, and custom calls by name."""
