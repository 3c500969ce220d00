"""Whose rules a function follows, and what no rule covers."""
