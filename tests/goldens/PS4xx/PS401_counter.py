from collections import Counter

import numpy as np


def f(x):
    return Counter(str(i) for i in x)


arguments = (np.arange(50.0),)
