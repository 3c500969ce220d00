import time

import numpy as np


def f(x):
    start = time.perf_counter()
    total = np.cumsum(x)[-1]
    return total, time.perf_counter() - start


def alternative(x):
    return np.cumsum(x)[-1]


arguments = (np.ones(3),)
