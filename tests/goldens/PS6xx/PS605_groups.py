import itertools

import numpy as np


def f(xs):
    return [list(group) for key, group in itertools.groupby(xs)]


def rewritten(xs):
    keys = np.array(xs)
    return 1 + int((keys[1:] != keys[:-1]).sum())


arguments = ([1.0, 1.0, 2.0],)
