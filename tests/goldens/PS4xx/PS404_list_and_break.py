import numpy as np


def f(x):
    found = []
    for i in range(60):
        for j in range(60):
            if i == j:
                continue
            if x[i % 3] > j:
                break
            found.append(j)
    return found


def rewritten(x):
    found, count = np.zeros(3600, int), 0
    for i in range(60):
        for j in range(60):
            if i == j:
                continue
            if x[i % 3] > j:
                break
            found[count] = j
            count += 1
    return found, count


arguments = (np.array([1.0, 2.0, 0.5]),)
