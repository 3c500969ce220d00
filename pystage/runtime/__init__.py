"""Running staged programs on JAX: from a call's arguments to a specialisation, and from its results to objects."""
