import numpy as np


def f(images, scale):
    return (images - images.mean()) * scale


def rewritten(images, scale):
    return (images - images.mean()) * scale[:, None]


arguments = (np.ones((2, 3, 4)), np.ones((2, 4)))
