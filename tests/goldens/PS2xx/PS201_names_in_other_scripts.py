import numpy as np


def f(größe, 重み):
    ergebnis = größe.sum() + (größe * 重み)
    return ergebnis


def rewritten(größe, 重み):
    return größe.sum() + (größe[:, None] * 重み)


arguments = (np.ones(3), np.ones(4))
