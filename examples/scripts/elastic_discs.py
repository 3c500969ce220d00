"""Hard discs in a box, event by event: the next collision is found exactly, the discs move to it and bounce."""

import math

import numpy as np


class Disc:
    def __init__(self, x, y, vx, vy, r, m):
        self.x, self.y = x, y
        self.vx, self.vy = vx, vy
        self.r = r
        self.m = m

    def move(self, dt):
        self.x += self.vx * dt
        self.y += self.vy * dt

    def time_to_wall(self, size):
        tx = ty = math.inf
        if self.vx > 0:
            tx = (size - self.r - self.x) / self.vx
        elif self.vx < 0:
            tx = (self.r - self.x) / self.vx
        if self.vy > 0:
            ty = (size - self.r - self.y) / self.vy
        elif self.vy < 0:
            ty = (self.r - self.y) / self.vy
        return (tx, "x") if tx < ty else (ty, "y")

    def time_to(self, other):
        dx, dy = other.x - self.x, other.y - self.y
        dvx, dvy = other.vx - self.vx, other.vy - self.vy
        dvdr = dx * dvx + dy * dvy
        if dvdr >= 0:
            return math.inf
        dvdv = dvx**2 + dvy**2
        sigma = self.r + other.r
        disc = dvdr**2 - dvdv * (dx**2 + dy**2 - sigma**2)
        if disc < 0:
            return math.inf
        return -(dvdr + math.sqrt(disc)) / dvdv

    def bounce(self, other):
        dx, dy = other.x - self.x, other.y - self.y
        dvdr = dx * (other.vx - self.vx) + dy * (other.vy - self.vy)
        sigma = self.r + other.r
        j = 2 * self.m * other.m * dvdr / ((self.m + other.m) * sigma)
        self.vx += j * dx / sigma / self.m
        self.vy += j * dy / sigma / self.m
        other.vx -= j * dx / sigma / other.m
        other.vy -= j * dy / sigma / other.m


def next_event(discs, size):
    best = (math.inf, None, None)
    for i, a in enumerate(discs):
        t, axis = a.time_to_wall(size)
        if t < best[0]:
            best = (t, i, axis)
        for j in range(i + 1, len(discs)):
            t = a.time_to(discs[j])
            if t < best[0]:
                best = (t, i, j)
    return best


def main(pos, vel, radius, mass, size, n_events):
    discs = [Disc(p[0], p[1], v[0], v[1], r, m) for p, v, r, m in zip(pos, vel, radius, mass)]
    clock = 0.0
    impulse = 0.0
    pair_hits = 0
    for _ in range(n_events):
        dt, i, what = next_event(discs, size)
        for d in discs:
            d.move(dt)
        clock += dt
        if what == "x":
            impulse += 2 * discs[i].m * abs(discs[i].vx)
            discs[i].vx = -discs[i].vx
        elif what == "y":
            impulse += 2 * discs[i].m * abs(discs[i].vy)
            discs[i].vy = -discs[i].vy
        else:
            discs[i].bounce(discs[what])
            pair_hits += 1
    kinetic = sum(0.5 * d.m * (d.vx**2 + d.vy**2) for d in discs)
    pressure = impulse / (clock * 4 * size)
    return np.array([(d.x, d.y) for d in discs]), clock, pair_hits, kinetic, pressure


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    side = 5
    gx, gy = np.meshgrid(np.arange(side), np.arange(side))
    pos = (np.stack([gx.ravel(), gy.ravel()], axis=1) + 0.5) * 2.0
    vel = rng.standard_normal((side * side, 2))
    radius = rng.uniform(0.2, 0.6, side * side)
    return pos, vel, radius, radius**2, 10.0, 60


if __name__ == "__main__":
    xy, clock, hits, kinetic, pressure = main(*inputs())
    print(f"t={clock:.3f} hits={hits} E={kinetic:.6f} p={pressure:.4f}")
