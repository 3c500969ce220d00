"""The fast Fourier transform in place: bits reversed, then butterflies of growing width.

Source: J. W. Cooley, J. W. Tukey, "An algorithm for the machine calculation of complex Fourier series", Math.
Comp. 19 (1965), 297–301; the loops are those of T. H. Cormen et al., Introduction to Algorithms, 3rd ed.
(MIT, 2009), section 30.3.
"""

from __future__ import annotations

import numpy as np


def fft(x):
    """Transforms the complex array `x`, whose length is a power of two, in place."""
    n = len(x)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            x[i], x[j] = x[j], x[i]
    width = 2
    while width <= n:
        root = np.exp(-2j * np.pi / width)
        for start in range(0, n, width):
            twiddle = 1.0 + 0.0j
            for k in range(start, start + width // 2):
                even, odd = x[k], twiddle * x[k + width // 2]
                x[k] = even + odd
                x[k + width // 2] = even - odd
                twiddle = twiddle * root
        width *= 2


def inputs(size):
    """A signal of 2**size samples."""
    rng = np.random.default_rng(6)
    return (rng.standard_normal(2**size) + 1j * rng.standard_normal(2**size),)


PROGRAMS = [(fft, lambda: inputs(3)), (fft, lambda: inputs(5))]
"""What the tests run: a function, and what makes its arguments."""
