import numpy as np


def f(x):
    kept = []
    for value in x:
        if value > 1.0:
            kept.append(f"{value}")
    return kept


def alternative(x):
    kept = np.zeros(len(x))
    count = 0
    for value in x:
        if value > 1.0:
            kept[count] = value
            count += 1
    return kept, count


arguments = (np.arange(3.0),)
