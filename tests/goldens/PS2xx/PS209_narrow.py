import numpy as np


def f(image):
    image *= 1.5
    return image


def rewritten(image):
    return (image * 1.5).astype(np.uint8)


arguments = (np.arange(4, dtype=np.uint8),)
