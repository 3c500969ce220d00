import numpy as np


class Layer:
    def __init__(self):
        self.w0, self.w1 = 1.0, 2.0


LAYER = Layer()


def f(x):
    return getattr(LAYER, f"w{int(x[0])}") * x


def rewritten(x):
    weights = np.array([LAYER.w0, LAYER.w1])
    return weights[int(x[0])] * x


arguments = (np.array([1.0, 2.0]),)
