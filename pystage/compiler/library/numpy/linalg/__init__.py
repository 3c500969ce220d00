"""`np.linalg`, products of arrays, and structured matrices."""
