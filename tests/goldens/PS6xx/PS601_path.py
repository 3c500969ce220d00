import os


def f(x):
    if os.path.exists("weights.npy"):
        return x * 2
    return x


def rewritten(x, exists=True):
    if exists:
        return x * 2
    return x
