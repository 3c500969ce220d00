"""Objects and their classes, and the caller's environment."""
