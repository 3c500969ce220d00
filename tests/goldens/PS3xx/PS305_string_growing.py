import numpy as np


def f(n):
    text = ""
    while len(text) < n:
        text += "ab"
    return text


arguments = (np.int64(3),)
