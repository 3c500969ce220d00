import numpy as np


def halves(x):
    yield x
    if x > 1:
        yield from halves(x / 2)


def f(x):
    return sum(halves(x))


def rewritten(x):
    total = x
    while x > 1:
        x = x / 2
        total += x
    return total


arguments = (np.float64(5.0),)
