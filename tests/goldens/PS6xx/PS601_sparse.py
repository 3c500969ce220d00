import numpy as np
import scipy.sparse


def f(x):
    return scipy.sparse.csr_matrix(np.eye(2)) @ x


def rewritten(x):
    return np.eye(2) @ x


arguments = (np.ones(2),)
