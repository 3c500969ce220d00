import numpy as np


def f(x):
    return {name: range(len(name)) for name in ("low", "high") if x.sum() > len(name)}


def rewritten(x):
    return {name: range(len(name)) if x.sum() > len(name) else None for name in ("low", "high")}


arguments = (np.arange(3.0),)
