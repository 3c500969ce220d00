import bisect

import numpy as np


def f(xs, x):
    return bisect.bisect(xs, x)


def rewritten(xs, x):
    return int(np.searchsorted(xs, x, side="right"))


arguments = ([1.0, 2.0], 1.5)
