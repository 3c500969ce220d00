"""The engine: instructions, joins of paths, loops to their fixpoints."""
