import numpy as np
import scipy.spatial.distance


def f(x):
    return scipy.spatial.distance.cdist(x, x)


def rewritten(x):
    return np.sqrt(((x[:, None] - x) ** 2).sum(-1))


arguments = (np.eye(2),)
