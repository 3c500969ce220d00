"""`np.linalg`, products of arrays, and matrices with a pattern."""
