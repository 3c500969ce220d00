import numpy as np


def f(x):
    tree = {"right": {"values": x}}
    if x.sum() > 0:
        tree["left"] = {"value": x}
    return tree


def rewritten(x):
    tree = {"right": {"values": x}, "left": None}
    if x.sum() > 0:
        tree["left"] = {"value": x}
    return tree


arguments = (np.arange(3.0),)
