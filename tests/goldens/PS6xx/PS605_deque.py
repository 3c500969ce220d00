import collections

import numpy as np


def f(xs):
    window = collections.deque(maxlen=2)
    for x in xs:
        window.append(x)
    return sum(window)


def rewritten(xs):
    window = np.zeros(2)
    for i in range(len(xs)):
        window[i % 2] = xs[i]
    return sum(window)


arguments = ([1.0, 2.0, 4.0],)
