"""Gram–Schmidt orthogonalisation, in the modified form: A = Q R, column by column.

Source: G. H. Golub, C. F. Van Loan, Matrix Computations, 4th ed. (Johns Hopkins, 2013), algorithm 5.2.6.
"""

from __future__ import annotations

import numpy as np


def gram_schmidt(a):
    """The orthonormal `q`, `[m, n]`, and the upper triangular `r`, `[n, n]`, whose product is `a`."""
    n = a.shape[1]
    q = a.copy()
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.linalg.norm(q[:, k])
        q[:, k] /= r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.dot(q[:, k], q[:, j])
            q[:, j] -= r[k, j] * q[:, k]
    return q, r


def inputs(size):
    """A matrix of `size` columns and twice as many rows."""
    return (np.random.default_rng(7).standard_normal((2 * size, size)),)


PROGRAMS = [(gram_schmidt, lambda: inputs(4)), (gram_schmidt, lambda: inputs(9))]
"""What the tests run: a function, and what makes its arguments."""
