import os


def f(x):
    return x * float(os.environ["SCALE"])


SCALE = "2.0"


def rewritten(x):
    return x * float(SCALE)
