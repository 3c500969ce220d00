import math

import numpy as np


def clipped(v):
    return v if v > 0 else 1


def f(x):
    return math.hypot(*map(clipped, x))


def rewritten(x):
    return math.hypot(*[float(clipped(v)) for v in x])


arguments = (np.array([1.0, -2.0]),)
