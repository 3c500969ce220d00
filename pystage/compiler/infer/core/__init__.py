"""The core of inference: the engine, instructions, joins, fixpoints of loops, speculation."""
