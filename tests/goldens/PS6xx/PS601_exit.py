import sys


def f(x):
    if x < 0:
        sys.exit(1)
    return x


def rewritten(x):
    if x < 0:
        raise ValueError("negative")
    return x
