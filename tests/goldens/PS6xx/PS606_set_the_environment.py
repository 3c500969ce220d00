import os


def f(x):
    os.environ["PYSTAGE_SCALE"] = "1"
    return x


def rewritten(x):
    return x
