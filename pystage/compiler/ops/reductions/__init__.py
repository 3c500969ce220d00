"""Reductions over axes and over sliding windows."""
