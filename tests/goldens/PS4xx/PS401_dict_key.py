import numpy as np


def f(labels):
    return {"size": labels, int(labels.max()): labels.sum()}


def alternative(labels):
    return {"size": labels, "label": int(labels.max()), "sum": labels.sum()}


arguments = (np.array([2, 1, 0]),)
