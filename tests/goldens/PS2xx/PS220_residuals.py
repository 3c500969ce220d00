import numpy as np


def f(a, b):
    return np.linalg.lstsq(a, b)[1]


def alternative(a, b):
    x = np.linalg.lstsq(a, b)[0]
    return ((a @ x - b) ** 2).sum(0)


arguments = (np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0, 4.0]))
