import numpy as np


def f(x):
    path = ()
    while x > 1.0:
        x = x / 2
        path = (path, x)
    return path


def alternative(x):
    path, count = np.zeros(64), 0
    while x > 1.0:
        x = x / 2
        path[count] = x
        count += 1
    return path, count


arguments = (8.0,)
