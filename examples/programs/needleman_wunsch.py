"""The best alignment of two sequences: a table of scores, and the way back through it.

Source: S. B. Needleman, C. D. Wunsch, "A general method applicable to the search for similarities in the amino
acid sequence of two proteins", J. Mol. Biol. 48 (1970), 443–453.
"""

from __future__ import annotations

import numpy as np

MATCH, MISMATCH, GAP = 2, -1, -2


def needleman_wunsch(a, b):
    """The score of the best alignment, and the two aligned sequences, -1 for a gap and -2 behind the end."""
    n, m = len(a), len(b)
    score = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(1, n + 1):
        score[i, 0] = i * GAP
    for j in range(1, m + 1):
        score[0, j] = j * GAP
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = score[i - 1, j - 1] + (MATCH if a[i - 1] == b[j - 1] else MISMATCH)
            score[i, j] = max(diagonal, score[i - 1, j] + GAP, score[i, j - 1] + GAP)

    above = np.full(n + m, -2)
    below = np.full(n + m, -2)
    i, j, length = n, m, 0
    while i > 0 or j > 0:
        similar = MATCH if i > 0 and j > 0 and a[i - 1] == b[j - 1] else MISMATCH
        if i > 0 and j > 0 and score[i, j] == score[i - 1, j - 1] + similar:
            i -= 1
            j -= 1
            above[length] = a[i]
            below[length] = b[j]
        elif i > 0 and score[i, j] == score[i - 1, j] + GAP:
            i -= 1
            above[length] = a[i]
            below[length] = -1
        else:
            j -= 1
            above[length] = -1
            below[length] = b[j]
        length += 1
    for k in range(length // 2):
        other = length - 1 - k
        above[k], above[other] = above[other], above[k]
        below[k], below[other] = below[other], below[k]
    return score[n, m], above, below


def inputs(size):
    """Two sequences of `size` and about as many letters, the second like the first with errors."""
    rng = np.random.default_rng(5)
    a = rng.integers(0, 4, size)
    b = np.delete(np.where(rng.random(size) < 0.8, a, rng.integers(0, 4, size)), size // 2)
    return a, b


PROGRAMS = [(needleman_wunsch, lambda: inputs(7)), (needleman_wunsch, lambda: inputs(13))]
"""What the tests run: a function, and what makes its arguments."""
