"""Reductions, of whole axes and of sliding windows."""
