"""A sheet of cloth hung by two corners: Verlet particles, distance constraints relaxed by turns, a ball to fall on."""

import numpy as np


class Cloth:
    def __init__(self, rows, cols, spacing, pinned):
        x, y = np.meshgrid(np.arange(cols), np.arange(rows))
        self.pos = (
            np.stack([x * spacing, -0.2 * y * spacing, y * spacing], axis=-1).reshape(-1, 3).astype(float)
        )
        self.prev = self.pos.copy()
        self.pinned = pinned
        self.links = []
        for r in range(rows):
            for c in range(cols):
                i = r * cols + c
                if c + 1 < cols:
                    self.links.append((i, i + 1, spacing))
                if r + 1 < rows:
                    self.links.append((i, i + cols, spacing))

    def integrate(self, dt, gravity, damping=0.99):
        new = self.pos + damping * (self.pos - self.prev) + gravity * dt**2
        for p in self.pinned:
            new[p] = self.pos[p]
        self.prev = self.pos
        self.pos = new

    def relax(self):
        for i, j, rest in self.links:
            delta = self.pos[j] - self.pos[i]
            length = np.sqrt(delta @ delta)
            corr = delta * (length - rest) / length
            fix_i, fix_j = i in self.pinned, j in self.pinned
            if fix_i and fix_j:
                continue
            if fix_i:
                self.pos[j] -= corr
            elif fix_j:
                self.pos[i] += corr
            else:
                self.pos[i] += 0.5 * corr
                self.pos[j] -= 0.5 * corr

    def collide(self, centre, radius):
        away = self.pos - centre
        dist = np.linalg.norm(away, axis=1)
        inside = dist < radius
        self.pos[inside] = centre + away[inside] / dist[inside][:, None] * radius
        return int(inside.sum())


def main(rows, cols, steps, ball, radius):
    cloth = Cloth(rows, cols, 0.1, pinned=[0, cols - 1])
    gravity = np.array([0.0, -9.81, 0.0])
    touches = []
    for _ in range(steps):
        cloth.integrate(0.016, gravity)
        for _ in range(4):
            cloth.relax()
        touches.append(cloth.collide(ball, radius))
    stretch = [np.linalg.norm(cloth.pos[j] - cloth.pos[i]) / rest for i, j, rest in cloth.links]
    return cloth.pos.reshape(rows, cols, 3), touches, max(stretch)


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    ball = np.array([0.45, -0.5, 0.35]) + 0.02 * rng.standard_normal(3)
    return 8, 10, 40, ball, 0.2


if __name__ == "__main__":
    pos, touches, stretch = main(*inputs())
    print("lowest point", pos[..., 1].min(), "contacts", sum(touches), "stretch", stretch)
