"""What inference knows of a value: the lattice, the heap, and the boundary to the caller's own objects."""
