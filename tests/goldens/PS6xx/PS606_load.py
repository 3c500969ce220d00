import numpy as np


def f(x):
    return x @ np.load("weights.npy")


def rewritten(x, weights=np.ones(2)):
    return x @ weights


arguments = (np.ones(2),)
