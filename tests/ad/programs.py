"""Plain functions of float64 numbers and arrays with one float result, and their arguments."""

from __future__ import annotations

import numpy as np

X = np.array([0.3, -1.2, 0.7, 2.0])


def polynomial(x, y):
    return 3.0 * x * x * y - x / y + 2.0


def elementwise(x):
    return np.sum(np.sin(x) * np.exp(-x) + np.sqrt(x * x + 1.0))


def matrices(a, x):
    return np.sum(np.tanh(a @ x) ** 2)


def branch(x, y):
    if x > y:
        z = x * y
    else:
        z = np.exp(y) + x
    return z * z


def branch_captures(x, y):
    w = np.sin(x)
    if y > 0.0:
        z = w * w * y
        z = z * np.cos(z)
    else:
        z = y
    return z + w


def known_loop(x):
    total = 0.0
    for i in range(4):
        total = total * total + np.sin(x[i]) * x[i]
    return total


def broken_off(x, y):
    total = 0.0
    for _ in range(10):
        if total > 3.0:
            break
        total = total + x * x + np.sin(total * y)
    return total


def broken_off_without_residuals(x):
    total = 0.0
    for i in range(10):
        if i * i > 20:
            break
        total = total + x
    return total


def broken_off_in_a_loop(x):
    total = 0.0
    for i in range(4):
        for j in range(6):
            if j > x[i] + 0.5:
                break
            total = total * 0.9 + x[i] * x[i]
    return total


def ended_by_an_exception(x, y):
    a = np.zeros(3)
    total = 0.0
    try:
        for i in range(10):
            total = total * y + x * x
            a[i] = total
    except IndexError:
        total = total * 2.0
    return total + a[0]


def first_trip_apart(x):
    total = 0
    for _ in range(3):
        total = total + x * x
    return np.sum(total)


def nested_loops(a):
    total = 1.0
    for i in range(3):
        row = 0.0
        for j in range(2):
            row = row * 0.5 + a[i, j] * total
        total = total + np.sin(row)
    return total


def stores(x):
    y = np.zeros(4)
    y[0] = x[0]
    for i in range(1, 4):
        y[i] = y[i - 1] * x[i] + np.cos(y[i - 1])
    return np.sum(y * y)


def branch_in_loop(x):
    total = 0.0
    for i in range(4):
        if x[i] > 0.0:
            total = total + x[i] * x[i]
        else:
            total = total * np.cos(x[i])
    return total


def layer(w, x):
    return np.tanh(w * x + 1.0)


def calls(w, x):
    return np.sum(layer(w, layer(w, layer(w, x))))


def loop_in_branch(x, y):
    s = y
    if y > 0.5:
        for i in range(3):
            s = s * x[i] + np.sin(s)
    return s


def captured_array(x, w):
    total = 0.0
    for i in range(4):
        total = total + np.sum(w * x[i]) * w[i]
    return total


def max_pool(x):
    best = -100.0
    for i in range(4):
        best = max(best, x[i] * x[i])
    return best


def eigenvalues(a):
    return np.sum(np.sin(np.linalg.eigvalsh(a.T @ a + np.diag([1.0, 2.0]))))


def newton(a):
    x = a
    while abs(x * x - a) > 1e-9:
        x = 0.5 * (x + a / x)
    return x


def until(x, y):
    total = 1.0
    n = 0
    while total < 50.0:
        total = total * x + np.sin(total) * y
        n = n + 1
    return total * total


def until_captured(x, y):
    w = np.exp(x)
    total = 1.0
    while total < 50.0:
        total = total * w + np.sum(y * total) * 0.1
    return total


def until_stored(x):
    y = np.zeros(4)
    y[0] = 0.5
    i = 0
    while np.sum(y * y) < 20.0:
        y[i % 4] = y[i % 4] + x[(i + 1) % 4] * x[(i + 1) % 4] + 0.3 * y[(i + 3) % 4]
        i = i + 1
    return np.sum(y)


def until_nested(x):
    total = x
    while total < 30.0:
        part = total
        while part < 2.0 * total:
            part = part * 1.5 + x
        total = part + np.sin(part)
    return total


def until_in_known(x):
    total = 0.0
    for i in range(3):
        s = x[i] * x[i] + 0.5
        while s < 4.0:
            s = s * (1.5 + 0.1 * x[i])
        total = total * 0.5 + s
    return total


def known_in_until(x):
    total = 1.0
    while total < 40.0:
        for i in range(4):
            total = total + x[i] * x[i] * np.cos(total) * 0.1 + 0.5
    return total


def many_trips(x):
    total = 0.0
    n = 0
    while n < 300:
        total = 0.99 * total + np.sin(x * total) + x
        n = n + 1
    return total


def never(x):
    total = x
    while total < 0.0:
        total = total + 1.0
    return total * total


W = np.linspace(-1.0, 1.0, 4)
A = np.arange(6.0).reshape(3, 2) / 4 - 0.6
PROGRAMS = [
    (polynomial, (1.3, 0.7)),
    (elementwise, (X,)),
    (matrices, (A, np.array([0.5, -0.3]))),
    (branch, (1.3, 0.7)),
    (branch, (0.3, 0.7)),
    (branch_captures, (1.3, 0.7)),
    (branch_captures, (1.3, -0.7)),
    (known_loop, (X,)),
    (broken_off, (1.1, 0.3)),
    (broken_off, (1.8, -0.7)),
    (broken_off_without_residuals, (0.4,)),
    (broken_off_in_a_loop, (X,)),
    (ended_by_an_exception, (0.8, 1.2)),
    (first_trip_apart, (X,)),
    (nested_loops, (A,)),
    (stores, (X,)),
    (branch_in_loop, (X,)),
    (calls, (0.4, X)),
    (loop_in_branch, (X, 0.8)),
    (loop_in_branch, (X, 0.2)),
    (captured_array, (X, W)),
    (max_pool, (X,)),
    (eigenvalues, (A,)),
    (newton, (2.0,)),
    (until, (1.3, 0.2)),
    (until_captured, (0.2, W)),
    (until_stored, (X,)),
    (until_nested, (0.4,)),
    (until_in_known, (X,)),
    (known_in_until, (X,)),
    (many_trips, (0.3,)),
    (never, (0.7,)),
]
