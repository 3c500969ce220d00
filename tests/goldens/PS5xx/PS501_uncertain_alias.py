import numpy as np


def f(x, n):
    a, b = x[1:], x[:-1]
    for i in range(n):
        c = x * i
        if i % 2 == 0:
            a = c[1:]
        if i % 3 == 0:
            b = c[:-1]
        a[0] += 1.0
    return a + b


def rewritten(x, n):
    a, b = x[1:], x[:-1]
    for i in range(n):
        c = x * i
        if i % 2 == 0:
            a = c[1:].copy()
        if i % 3 == 0:
            b = c[:-1].copy()
        a[0] += 1.0
    return a + b


arguments = (np.ones(3), 5)
