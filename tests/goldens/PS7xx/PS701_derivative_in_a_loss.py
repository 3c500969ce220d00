import numpy as np

import pystage


def penalty(w):
    return np.sum(np.nextafter(w, 0.0))


def loss(w):
    return np.sum(w * w) + penalty(w)


def f(w):
    return pystage.grad(loss)(w)


def rewritten(w):
    return pystage.grad(lambda v: np.sum(v * v))(w)


arguments = (np.arange(4.0),)
