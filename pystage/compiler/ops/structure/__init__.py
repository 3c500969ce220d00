"""Data-movement operations: constants, shapes, slices, gather, scatter, sort."""
