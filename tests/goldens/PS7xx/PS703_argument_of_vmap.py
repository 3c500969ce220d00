import numpy as np

import pystage


def store(total, x):
    total[0] += x
    return x


def f(total, xs):
    return pystage.vmap(store, in_axes=(None, 0))(total, xs)


def rewritten(total, xs):
    total[0] += xs.sum()
    return pystage.vmap(lambda x: x)(xs)


arguments = (np.zeros(1), np.ones(3))
