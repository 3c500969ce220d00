import numpy as np

DNA = "gattaca" * 1_000


def f(x):
    for base in DNA:
        x = x + 1.0 if base in "gc" else x * 0.5
    return x


STRONG = np.array([base in "gc" for base in DNA])


def rewritten(x):
    for strong in STRONG:
        x = x + 1.0 if strong else x * 0.5
    return x
