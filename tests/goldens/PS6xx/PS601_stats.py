import numpy as np
import scipy.stats


def f(x):
    return scipy.stats.norm.pdf(x)


def rewritten(x):
    return np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
