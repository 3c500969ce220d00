import numpy as np
import scipy.integrate


def f(x):
    return scipy.integrate.odeint(lambda y, t: -y, x, np.linspace(0.0, 1.0, 5))


def alternative(x):
    steps = [x]
    for _ in range(4):
        steps.append(steps[-1] - 0.25 * steps[-1])
    return np.array(steps)
