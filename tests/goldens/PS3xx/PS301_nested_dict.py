import numpy as np


def f(x):
    tree = {}
    if x.sum() > 0:
        tree["left"] = {"value": x}
    return tree


def rewritten(x):
    tree = {"left": None}
    if x.sum() > 0:
        tree["left"] = {"value": x}
    return tree


arguments = (np.arange(3.0),)
