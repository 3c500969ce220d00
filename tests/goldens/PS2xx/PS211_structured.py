import numpy as np


def f(x):
    points = np.zeros(3, dtype=[("x", float), ("y", float)])
    return points["x"] + x


def rewritten(x):
    points = {"x": np.zeros(3), "y": np.zeros(3)}
    return points["x"] + x
