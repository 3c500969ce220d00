import numpy as np


def f(x):
    path = [x]
    while x > 1.0:
        x = x / 2
        path.append(x)
    return np.array(path)


def rewritten(x):
    path, count = np.zeros(64), 1
    path[0] = x
    while x > 1.0:
        x = x / 2
        path[count] = x
        count += 1
    return path, count


arguments = (5.0,)
