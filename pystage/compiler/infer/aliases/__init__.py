"""Merged cells: references whose object depends on the path taken."""
