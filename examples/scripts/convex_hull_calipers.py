"""Convex hull by the monotone chain, its diameter by rotating calipers, and the smallest rectangle around it."""

import numpy as np


def cross(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def convex_hull(points):
    pts = sorted({(float(x), float(y)) for x, y in points})
    if len(pts) < 3:
        return pts

    def half(seq):
        chain = []
        for p in seq:
            while len(chain) >= 2 and cross(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return half(pts) + half(reversed(pts))


def area_perimeter(hull):
    area = per = 0.0
    for (x0, y0), (x1, y1) in zip(hull, hull[1:] + hull[:1]):
        area += x0 * y1 - x1 * y0
        per += ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    return area / 2, per


def diameter(hull):
    n = len(hull)
    best, pair = 0.0, None
    j = 1
    for i in range(n):
        a, b = hull[i], hull[(i + 1) % n]
        while abs(cross(a, b, hull[(j + 1) % n])) > abs(cross(a, b, hull[j])):
            j = (j + 1) % n
        for p in (a, b):
            d = np.hypot(p[0] - hull[j][0], p[1] - hull[j][1])
            if d > best:
                best, pair = d, (p, hull[j])
    return best, pair


def smallest_rectangle(hull):
    H = np.array(hull)
    best = (np.inf, 0.0, None)
    edges = np.roll(H, -1, axis=0) - H
    for ex, ey in edges:
        angle = np.arctan2(ey, ex)
        c, s = np.cos(angle), np.sin(angle)
        R = np.array([[c, s], [-s, c]])
        rotated = H @ R.T
        size = rotated.max(axis=0) - rotated.min(axis=0)
        if size[0] * size[1] < best[0]:
            best = (size[0] * size[1], angle, size)
    return best


def inside(hull, p):
    return all(cross(a, b, p) >= 0 for a, b in zip(hull, hull[1:] + hull[:1]))


def main(points, queries):
    hull = convex_hull(points)
    area, perimeter = area_perimeter(hull)
    d, pair = diameter(hull)
    rect = smallest_rectangle(hull)
    hits = np.array([inside(hull, q) for q in queries])
    return np.array(hull), area, perimeter, (d, pair), rect, hits


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((2000, 2)) @ np.array([[2.0, 0.5], [0.0, 1.0]])
    return points, rng.uniform(-6, 6, (300, 2))


if __name__ == "__main__":
    hull, area, perimeter, (d, _), rect, hits = main(*inputs())
    print(f"{len(hull)} corners, area {area:.3f}, perimeter {perimeter:.3f}, diameter {d:.3f}")
    print(f"rectangle {rect[0]:.3f} at {rect[1]:.3f} rad, {hits.sum()} queries inside")
