"""Names and values that depend on the path taken."""
