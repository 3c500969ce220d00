import numpy as np


def averages():
    total, count, average = 0.0, 0, 0.0
    while True:
        total += yield average
        count += 1
        average = total / count


def f(x):
    running = averages()
    next(running)
    for v in x:
        average = running.send(v)
    return average


class Average:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, v):
        self.total += v
        self.count += 1
        return self.total / self.count


def rewritten(x):
    running = Average()
    for v in x:
        average = running.add(v)
    return average


arguments = (np.array([1.0, 2.0, 6.0]),)
