import warnings


def f(x):
    if x < 0:
        warnings.warn("negative")
    return abs(x)


def rewritten(x):
    return abs(x)
