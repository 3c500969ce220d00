"""pystage compiles plain Python functions over arrays, from their source, into whole-program XLA modules."""
