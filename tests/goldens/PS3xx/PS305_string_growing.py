import numpy as np


def f(n):
    text = ""
    while len(text) < n:
        text += "ab"
    return text


def alternative(n):
    count = 0
    while 2 * count < n:
        count += 1
    return count


arguments = (np.int64(3),)
