import os


def f(x):
    if os.path.exists("weights.npy"):
        return x * 2
    return x


def alternative(x, exists=True):
    if exists:
        return x * 2
    return x
