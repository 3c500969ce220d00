import numpy as np


def f(x):
    t, path = 0.0, [x]
    while t < 10.0:
        t = t + 0.001
        x = x * 0.999
        path.append(x)
    return path


def rewritten(x):
    t, path, count = 0.0, np.zeros(20_000), 1
    path[0] = x
    while t < 10.0:
        t = t + 0.001
        x = x * 0.999
        path[count] = x
        count += 1
    return path, count


arguments = (1.0,)
