"""Cells that may be one of several objects."""
