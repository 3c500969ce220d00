import numpy as np


def halves(x):
    try:
        while x > 1:
            yield x
            x = x / 2
    finally:
        print("done")


def f(x):
    total = 0.0
    for half in halves(x):
        total += half
    return total


def rewritten(x):
    total = 0.0
    try:
        while x > 1:
            total += x
            x = x / 2
    finally:
        print("done")
    return total


arguments = (np.float64(3.0),)
