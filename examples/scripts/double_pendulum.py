"""A double pendulum by fourth-order Runge-Kutta: its path, how far its energy drifts, and when it flips."""

import numpy as np

g = 9.81


class DoublePendulum:
    def __init__(self, m1=1.0, m2=1.0, l1=1.0, l2=1.0):
        self.m1, self.m2 = m1, m2
        self.l1, self.l2 = l1, l2

    def deriv(self, s):
        a1, a2, w1, w2 = s
        m1, m2, l1, l2 = self.m1, self.m2, self.l1, self.l2
        d = a1 - a2
        den = 2 * m1 + m2 - m2 * np.cos(2 * d)
        dw1 = (
            -g * (2 * m1 + m2) * np.sin(a1)
            - m2 * g * np.sin(a1 - 2 * a2)
            - 2 * np.sin(d) * m2 * (w2**2 * l2 + w1**2 * l1 * np.cos(d))
        ) / (l1 * den)
        dw2 = (
            2
            * np.sin(d)
            * (w1**2 * l1 * (m1 + m2) + g * (m1 + m2) * np.cos(a1) + w2**2 * l2 * m2 * np.cos(d))
            / (l2 * den)
        )
        return np.array([w1, w2, dw1, dw2])

    def energy(self, s):
        a1, a2, w1, w2 = s
        v1 = (self.l1 * w1) ** 2
        v2 = v1 + (self.l2 * w2) ** 2 + 2 * self.l1 * self.l2 * w1 * w2 * np.cos(a1 - a2)
        y1 = -self.l1 * np.cos(a1)
        y2 = y1 - self.l2 * np.cos(a2)
        return 0.5 * self.m1 * v1 + 0.5 * self.m2 * v2 + g * (self.m1 * y1 + self.m2 * y2)


def rk4_step(f, s, h):
    k1 = f(s)
    k2 = f(s + 0.5 * h * k1)
    k3 = f(s + 0.5 * h * k2)
    k4 = f(s + h * k3)
    return s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def main(state, h, steps):
    p = DoublePendulum()
    e0 = p.energy(state)
    path = [state]
    flip_time = None
    worst = 0.0
    for k in range(steps):
        state = rk4_step(p.deriv, state, h)
        path.append(state)
        worst = max(worst, abs(p.energy(state) - e0))
        if flip_time is None and abs(state[1]) > np.pi:
            flip_time = (k + 1) * h
    return np.array(path), worst, -1.0 if flip_time is None else flip_time


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    return np.array([2.0, 2.2, 0.0, 0.0]) + 0.01 * rng.standard_normal(4), 0.005, 800


if __name__ == "__main__":
    path, drift, flip = main(*inputs())
    print("energy drift", drift, "flipped at", flip)
