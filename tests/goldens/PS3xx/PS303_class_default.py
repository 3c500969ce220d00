import numpy as np


class Search:
    found = -1.0


def f(x):
    search, i = Search(), 0
    while x[i] > 0:
        search.found = x[i]
        i += 1
    return search.found


def rewritten(x):
    search, i = Search(), 0
    search.found = -1.0
    while x[i] > 0:
        search.found = x[i]
        i += 1
    return search.found


arguments = (np.array([1.0, 2.0, -1.0]),)
