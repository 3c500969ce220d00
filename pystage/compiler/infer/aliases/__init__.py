"""Merged cells: what a name refers to where that depends on the path."""
