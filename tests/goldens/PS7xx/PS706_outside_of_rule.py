import numpy as np

import pystage


def total(x, scale):
    scaled = pystage.custom_vjp(lambda x: x * scale)
    scaled.defvjp(lambda x: (x * scale, None), lambda kept, ct: (ct * scale,))
    return np.sum(scaled(x))


def total_of_both(x, scale):
    scaled = pystage.custom_vjp(lambda x, scale: x * scale)
    scaled.defvjp(
        lambda x, scale: (x * scale, (x, scale)), lambda kept, ct: (ct * kept[1], np.sum(ct * kept[0]))
    )
    return np.sum(scaled(x, scale))


def f(x, scale):
    return pystage.grad(total, 1)(x, scale)


def rewritten(x, scale):
    return pystage.grad(total_of_both, 1)(x, scale)


arguments = (np.arange(3.0), 2.0)
