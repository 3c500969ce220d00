import statistics

import numpy as np


def f(xs):
    return statistics.stdev(xs)


def alternative(xs):
    return np.std(xs, ddof=1)


arguments = ([1.0, 2.0, 4.0],)
