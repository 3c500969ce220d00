import threading

import numpy as np

LOCK = threading.Lock()


def f(x):
    with LOCK:
        return x.sum()


def rewritten(x):
    return x.sum()


arguments = (np.ones(3),)
