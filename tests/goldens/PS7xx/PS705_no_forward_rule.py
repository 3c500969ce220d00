import numpy as np

import pystage


@pystage.custom_vjp
def softplus(x):
    return np.log(1.0 + np.exp(x))


softplus.defvjp(lambda x: (softplus(x), x), lambda x, ct: (ct / (1.0 + np.exp(-x)),))


def f(x):
    return pystage.jvp(lambda x: np.sum(softplus(x)), (x,), (x,))[1]


def rewritten(x):
    return np.sum(pystage.grad(lambda x: np.sum(softplus(x)))(x) * x)


arguments = (np.arange(3.0),)
