import numpy as np


class Walk:
    def __init__(self, steps):
        self.steps = steps

    def positions(self):
        position = 0.0
        for step in self.steps:
            position += step
            yield position


def f(steps):
    return sum(Walk(steps).positions())


def rewritten(steps):
    return np.sum(np.cumsum(steps))


arguments = (np.arange(4.0),)
