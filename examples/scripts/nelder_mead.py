"""The Nelder-Mead simplex with restarts on three classic test functions, and a least squares fit of a decay curve."""

import numpy as np


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def beale(x):
    a, b = x
    return (1.5 - a + a * b) ** 2 + (2.25 - a + a * b**2) ** 2 + (2.625 - a + a * b**3) ** 2


def nelder_mead(f, x0, step=0.5, tol=1e-10, max_iter=2000):
    n = len(x0)
    simplex = [np.array(x0, dtype=float)]
    for i in range(n):
        p = simplex[0].copy()
        p[i] += step
        simplex.append(p)
    values = [f(p) for p in simplex]
    evals = n + 1
    for _ in range(max_iter):
        order = np.argsort(values)
        simplex = [simplex[i] for i in order]
        values = [values[i] for i in order]
        if abs(values[-1] - values[0]) < tol:
            break
        centre = sum(simplex[:-1]) / n
        worst = simplex[-1]
        xr = centre + (centre - worst)
        fr = f(xr)
        evals += 1
        if fr < values[0]:
            xe = centre + 2 * (centre - worst)
            fe = f(xe)
            evals += 1
            simplex[-1], values[-1] = (xe, fe) if fe < fr else (xr, fr)
        elif fr < values[-2]:
            simplex[-1], values[-1] = xr, fr
        else:
            xc = centre + 0.5 * (worst - centre) if fr >= values[-1] else centre + 0.5 * (xr - centre)
            fc = f(xc)
            evals += 1
            if fc < min(fr, values[-1]):
                simplex[-1], values[-1] = xc, fc
            else:
                for i in range(1, n + 1):
                    simplex[i] = simplex[0] + 0.5 * (simplex[i] - simplex[0])
                    values[i] = f(simplex[i])
                evals += n
    best = int(np.argmin(values))
    return simplex[best], values[best], evals


def with_restarts(f, x0, rounds=3):
    x, step = x0, 0.5
    total = 0
    for _ in range(rounds):
        x, fx, evals = nelder_mead(f, x, step)
        total += evals
        step *= 0.3
    return x, fx, total


def main(t, y, starts):
    results = []
    for f, x0 in zip((rosenbrock, himmelblau, beale), starts):
        results.append(with_restarts(f, x0))

    def misfit(p):
        amplitude, rate, offset = p
        return np.sum((y - amplitude * np.exp(-rate * t) - offset) ** 2)

    fit, loss, evals = with_restarts(misfit, np.array([1.0, 1.0, 0.0]))
    return results, fit, loss, evals


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 5, 60)
    y = 3.0 * np.exp(-0.9 * t) + 0.5 + 0.05 * rng.standard_normal(60)
    starts = [np.array([-1.2, 1.0, 0.8]), np.array([0.0, 0.0]), np.array([1.0, 1.0])]
    return t, y, starts


if __name__ == "__main__":
    results, fit, loss, evals = main(*inputs())
    for x, fx, n in results:
        print(x, fx, n)
    print("decay", fit, loss)
