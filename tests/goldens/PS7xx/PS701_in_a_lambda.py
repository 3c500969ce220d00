import numpy as np

import pystage


def f(x):
    return pystage.jvp(lambda v: np.nextafter(v, 0.0), (x,), (x,))


def rewritten(x):
    return pystage.jvp(lambda v: v * v, (x,), (x,))


arguments = (np.arange(4.0),)
