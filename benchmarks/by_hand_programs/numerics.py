"""Numerical programs, mostly in NumPy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from . import Program, integers, normal, uniform


def conjugate_gradients(a, b):
    """Conjugate gradients until the residual is small."""
    x = jnp.zeros_like(b)
    r = b - a @ x
    p = r
    rs = r @ r
    count = 0
    while rs > 1e-8 and count < 200:
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
        count += 1
    return x, count


def conjugate_gradients_by_hand(a, b):
    def going_on(state):
        return (state[3] > 1e-8) & (state[4] < 200)

    def step(state):
        x, r, p, rs, count = state
        ap = a @ p
        alpha = rs / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r @ r
        return x, r, r + (new / rs) * p, new, count + 1

    x = jnp.zeros(len(b))
    r = b - a @ x
    state = jax.lax.while_loop(going_on, step, (x, r, r, r @ r, 0))
    return state[0], state[4]


def positive():
    a = normal(100, 100)
    return a @ a.T / 100 + jnp.eye(100), normal(100)


def kmeans(points, centres):
    """Lloyd's algorithm; a cluster without points keeps its centre."""
    centres = np.array(centres)
    for _ in range(10):
        distances = ((points[:, None, :] - centres[None]) ** 2).sum(-1)
        nearest = np.argmin(distances, axis=1)
        for k in range(len(centres)):
            mask = nearest == k
            count = mask.sum()
            if count > 0:
                centres[k] = (points * mask[:, None]).sum(0) / count.astype(np.float32)
    return centres, nearest


def kmeans_by_hand(points, centres):
    def step(_, state):
        centres, _ = state
        distances = ((points[:, None, :] - centres[None]) ** 2).sum(-1)
        nearest = jnp.argmin(distances, axis=1)
        mask = (nearest[None] == jnp.arange(len(centres))[:, None]).astype(points.dtype)
        counts = mask.sum(1, keepdims=True)
        return jnp.where(counts > 0, mask @ points / jnp.maximum(counts, 1), centres), nearest

    return jax.lax.fori_loop(0, 10, step, (centres, jnp.zeros(len(points), jnp.int32)))


def kmeans_inputs():
    return normal(1000, 2), normal(8, 2, seed=1)


def nbody(position, velocity, mass):
    """Bodies under gravity: pairs by broadcasting, leapfrog."""
    for _ in range(100):
        difference = position[None] - position[:, None]
        distance = np.sqrt((difference**2).sum(-1) + 0.01)
        pull = (mass[None, :, None] * difference / distance[..., None] ** 3).sum(1)
        velocity = velocity + 0.01 * pull
        position = position + 0.01 * velocity
    return position, velocity


def nbody_by_hand(position, velocity, mass):
    def step(_, state):
        position, velocity = state
        difference = position[None] - position[:, None]
        distance = jnp.sqrt((difference**2).sum(-1) + 0.01)
        pull = (mass[None, :, None] * difference / distance[..., None] ** 3).sum(1)
        velocity = velocity + 0.01 * pull
        return position + 0.01 * velocity, velocity

    return jax.lax.fori_loop(0, 100, step, (position, velocity))


def nbody_inputs():
    return normal(32, 3), normal(32, 3, seed=1, scale=0.1), uniform(32)


def heat(u):
    """The heat equation with stores into the inner part."""
    u = np.array(u)
    for _ in range(100):
        u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


def heat_by_hand(u):
    def step(_, u):
        flow = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        return u.at[1:-1, 1:-1].add(0.2 * flow)

    return jax.lax.fori_loop(0, 100, step, u)


def pagerank(links):
    """PageRank until the ranks rest."""
    n = len(links)
    out = links.sum(0)
    flow = np.where(out > 0, links / np.maximum(out, 1), np.float32(1 / n))
    rank = np.full(n, 1 / n, np.float32)
    count = 0
    while count < 100:
        new = 0.85 * np.dot(flow, rank) + np.float32(0.15 / n)
        change = np.abs(new - rank).sum()
        rank = new
        count += 1
        if change < 1e-6:
            break
    return rank, count


def pagerank_by_hand(links):
    n = len(links)
    out = links.sum(0)
    flow = jnp.where(out > 0, links / jnp.maximum(out, 1), 1 / n)

    def step(state):
        rank, _, count = state
        new = 0.85 * (flow @ rank) + 0.15 / n
        return new, jnp.abs(new - rank).sum(), count + 1

    start = jnp.full(n, 1 / n), jnp.float32(jnp.inf), 0
    rank, _, count = jax.lax.while_loop(lambda s: (s[1] >= 1e-6) & (s[2] < 100), step, start)
    return rank, count


def pagerank_inputs():
    return ((uniform(300, 300) < 0.02).astype(jnp.float32),)


def newton(x0):
    """Newton's method for many equations at once, each with its own derivative."""

    def f(x):
        return jnp.sin(x) + 0.5 * x - 1

    x = x0
    for _ in range(50):
        value, slope = jax.vmap(jax.value_and_grad(f))(x)
        step = value / slope
        x = x - step
        if jnp.abs(step).max() < 1e-5:
            break
    return x


def newton_by_hand(x0):
    def f(x):
        return jnp.sin(x) + 0.5 * x - 1

    def step(state):
        x, _, count = state
        value, slope = jax.vmap(jax.value_and_grad(f))(x)
        return x - value / slope, jnp.abs(value / slope).max(), count + 1

    start = x0, jnp.float32(jnp.inf), 0
    return jax.lax.while_loop(lambda s: (s[1] >= 1e-5) & (s[2] < 50), step, start)[0]


def pi(key):
    """Pi by a hundred batches of random points."""
    inside = 0
    for _ in range(100):
        key, use = jax.random.split(key)
        x = jax.random.uniform(use, (1000, 2))
        inside += ((x**2).sum(1) < 1).sum()
    return 4 * inside / 100_000


def pi_by_hand(key):
    def step(_, state):
        key, inside = state
        key, use = jax.random.split(key)
        x = jax.random.uniform(use, (1000, 2))
        return key, inside + ((x**2).sum(1) < 1).sum()

    return 4 * jax.lax.fori_loop(0, 100, step, (key, 0))[1] / 100_000


def lorenz(state):
    """A thousand steps of Runge-Kutta for the Lorenz equations; the path."""

    def slope(s):
        x, y, z = s
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 2.6666667 * z])

    path = np.zeros((1000, 3), np.float32)
    dt = np.float32(0.005)
    state = np.array(state)
    for i in range(1000):
        k1 = slope(state)
        k2 = slope(state + dt / 2 * k1)
        k3 = slope(state + dt / 2 * k2)
        k4 = slope(state + dt * k3)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path[i] = state
    return path


def lorenz_by_hand(state):
    def slope(s):
        x, y, z = s
        return jnp.array([10 * (y - x), x * (28 - z) - y, x * y - 2.6666667 * z])

    dt = jnp.float32(0.005)

    def step(state, _):
        k1 = slope(state)
        k2 = slope(state + dt / 2 * k1)
        k3 = slope(state + dt / 2 * k2)
        k4 = slope(state + dt * k3)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return state, state

    return jax.lax.scan(step, state, length=1000)[1]


def counting(codes):
    """How often each code occurs, and each pair of neighbours, by stores."""
    counts = np.zeros(64, np.int32)
    pairs = np.zeros((64, 64), np.int32)
    for i in range(len(codes) - 1):
        counts[codes[i]] += 1
        pairs[codes[i], codes[i + 1]] += 1
    counts[codes[-1]] += 1
    return counts, pairs


def counting_by_hand(codes):
    counts = jnp.zeros(64, jnp.int32).at[codes].add(1)
    return counts, jnp.zeros((64, 64), jnp.int32).at[codes[:-1], codes[1:]].add(1)


def shortest_paths(distance):
    """The Floyd-Warshall algorithm, a row and a column at a time."""
    d = np.array(distance)
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[k])
    return d


def shortest_paths_by_hand(distance):
    def step(k, d):
        return jnp.minimum(d, d[:, k, None] + d[k])

    return jax.lax.fori_loop(0, len(distance), step, distance)


def life(board):
    """Conway's game of life on a torus."""
    for _ in range(100):
        around = np.zeros(board.shape, np.int32)
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dy != 0 or dx != 0:
                    around = around + np.roll(board, (dy, dx), (0, 1))
        board = ((around == 3) | ((board == 1) & (around == 2))).astype(np.int32)
    return board


def life_by_hand(board):
    def step(_, board):
        places = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if y or x]
        around = sum(jnp.roll(board, place, (0, 1)) for place in places)
        return ((around == 3) | ((board == 1) & (around == 2))).astype(jnp.int32)

    return jax.lax.fori_loop(0, 100, step, board)


def power_iteration(a):
    """The largest eigenvalue by power iteration."""
    v = np.ones(len(a), np.float32)
    for _ in range(100):
        w = np.dot(a, v)
        v = w / np.linalg.norm(w)
    return np.dot(v, np.dot(a, v)), v


def power_iteration_by_hand(a):
    def step(_, v):
        w = a @ v
        return w / jnp.linalg.norm(w)

    v = jax.lax.fori_loop(0, 100, step, jnp.ones(len(a)))
    return v @ (a @ v), v


PROGRAMS = (
    Program("conjugate gradients", conjugate_gradients, conjugate_gradients_by_hand, positive),
    Program("k-means", kmeans, kmeans_by_hand, kmeans_inputs),
    Program("n-body", nbody, nbody_by_hand, nbody_inputs),
    Program("heat equation", heat, heat_by_hand, lambda: (normal(100, 100),)),
    Program("PageRank", pagerank, pagerank_by_hand, pagerank_inputs),
    Program("Newton's method", newton, newton_by_hand, lambda: (uniform(1000),)),
    Program("Monte-Carlo pi", pi, pi_by_hand, lambda: (jax.random.key(0),)),
    Program("Runge-Kutta", lorenz, lorenz_by_hand, lambda: (jnp.ones(3),)),
    Program("counting by stores", counting, counting_by_hand, lambda: (integers(64, 10_000),)),
    Program("Floyd-Warshall", shortest_paths, shortest_paths_by_hand, lambda: (uniform(100, 100),)),
    Program("game of life", life, life_by_hand, lambda: (integers(2, 64, 64),)),
    Program("power iteration", power_iteration, power_iteration_by_hand, lambda: (positive()[0],)),
)
