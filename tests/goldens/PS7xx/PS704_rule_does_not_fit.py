import numpy as np

import pystage


@pystage.custom_vjp
def softplus(x):
    return np.log(1.0 + np.exp(x))


softplus.defvjp(lambda x: (softplus(x), x), lambda x, ct: ct / (1.0 + np.exp(-x)))


@pystage.custom_vjp
def fitting(x):
    return np.log(1.0 + np.exp(x))


fitting.defvjp(lambda x: (fitting(x), x), lambda x, ct: (ct / (1.0 + np.exp(-x)),))


def f(x):
    return pystage.grad(lambda x: np.sum(softplus(x)))(x)


def rewritten(x):
    return pystage.grad(lambda x: np.sum(fitting(x)))(x)


arguments = (np.arange(3.0),)
