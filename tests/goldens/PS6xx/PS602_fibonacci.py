import numpy as np


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def f(x):
    return fibonacci(x[0])


def rewritten(x):
    a, b = 0, 1
    for _ in range(x[0]):
        a, b = b, a + b
    return a


arguments = (np.array([5]),)
