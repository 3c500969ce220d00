import numpy as np

import pystage


def shown(x):
    print(x)
    return x


def f(xs):
    return pystage.vmap(shown)(xs)


def rewritten(xs):
    for x in xs:
        print(x)
    return pystage.vmap(lambda x: x)(xs)


arguments = (np.ones(3),)
