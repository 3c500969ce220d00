import numpy as np


def f(x, y):
    i = 0
    while i < 5:
        i += 1
        try:
            step = np.linalg.solve(x * i, y)
        except np.linalg.LinAlgError:
            continue
        error = step @ y
        if error < 0.5:
            break
    return error


def rewritten(x, y):
    i, error = 0, np.inf
    while i < 5:
        i += 1
        try:
            step = np.linalg.solve(x * i, y)
        except np.linalg.LinAlgError:
            continue
        error = step @ y
        if error < 0.5:
            break
    return error


arguments = (np.eye(2), np.ones(2))
