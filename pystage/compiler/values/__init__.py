"""Abstract values: the lattice, the state of the heap, and the boundary to the caller's objects."""
