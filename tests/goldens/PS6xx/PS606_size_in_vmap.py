import numpy as np

import pystage


def f(xs):
    return pystage.vmap(lambda x: np.unique(x))(xs)


def rewritten(xs):
    return [np.unique(x) for x in xs]


arguments = (np.ones((2, 3)),)
