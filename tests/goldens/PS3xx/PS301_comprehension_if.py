import numpy as np


def f(x):
    return {name: x for name in ("low", "high") if x.sum() > len(name)}


def rewritten(x):
    return {name: x if x.sum() > len(name) else None for name in ("low", "high")}


arguments = (np.arange(3.0),)
