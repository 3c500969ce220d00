import numpy as np


def f(x, n):
    a, b = x + 1.0, x + 2.0
    for i in range(n):
        c = x * i
        if i % 2 == 0:
            a = c
        if i % 3 == 0:
            b = c
        a[0] += 1.0
    return a + b


def rewritten(x, n):
    a, b = x + 1.0, x + 2.0
    for i in range(n):
        c = x * i
        if i % 2 == 0:
            a = c.copy()
        if i % 3 == 0:
            b = c.copy()
        a[0] += 1.0
    return a + b


arguments = (np.ones(3), 5)
