SCALE = 2.0


def f(x):
    return x * globals()["SCALE"]


def rewritten(x):
    return x * SCALE
