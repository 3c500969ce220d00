"""Packages that have a bridge, in staged source."""
