import numpy as np


def norm(values):
    return np.sqrt(sum(values))


def f(xs):
    return norm(x * x for x in xs)


def rewritten(xs):
    return norm([x * x for x in xs])


arguments = ([3.0, 4.0],)
