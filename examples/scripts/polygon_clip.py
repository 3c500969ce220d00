"""Clips polygons to a convex window (Sutherland-Hodgman); areas, centroids, and cover by ear-clipped triangles."""

import numpy as np


class Point:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __sub__(self, other):
        return Point(self.x - other.x, self.y - other.y)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Point(k * self.x, k * self.y)

    def cross(self, other):
        return self.x * other.y - self.y * other.x


def side(a, b, p):
    return (b - a).cross(p - a)


def clip(polygon, window):
    output = polygon
    for k in range(len(window)):
        a, b = window[k - 1], window[k]
        source, output = output, []
        if not source:
            break
        s = source[-1]
        for e in source:
            ds, de = side(a, b, s), side(a, b, e)
            if de >= 0:
                if ds < 0:
                    output.append(s + (e - s) * (ds / (ds - de)))
                output.append(e)
            elif ds >= 0:
                output.append(s + (e - s) * (ds / (ds - de)))
            s = e
    return output


def area(polygon):
    return 0.5 * sum(polygon[i - 1].cross(p) for i, p in enumerate(polygon))


def centroid(polygon):
    cx = cy = 0.0
    for i, q in enumerate(polygon):
        p = polygon[i - 1]
        w = p.cross(q)
        cx += (p.x + q.x) * w
        cy += (p.y + q.y) * w
    a6 = 6 * area(polygon)
    return cx / a6, cy / a6


def in_triangle(p, a, b, c):
    return side(a, b, p) >= 0 and side(b, c, p) >= 0 and side(c, a, p) >= 0


def ear_clip(polygon):
    idx = list(range(len(polygon)))
    triangles = []
    while len(idx) > 3:
        for k in range(len(idx)):
            i, j, m = idx[k - 1], idx[k], idx[(k + 1) % len(idx)]
            a, b, c = polygon[i], polygon[j], polygon[m]
            if side(a, b, c) <= 0:
                continue
            if any(in_triangle(polygon[q], a, b, c) for q in idx if q not in (i, j, m)):
                continue
            triangles.append((i, j, m))
            idx.pop(k)
            break
        else:
            break
    triangles.append(tuple(idx[:3]))
    return triangles


def main(polygons, window):
    win = [Point(x, y) for x, y in window.tolist()]
    areas = np.zeros((len(polygons), 2))
    centres = []
    n_triangles = 0
    worst = 0.0
    for k, vertices in enumerate(polygons):
        poly = [Point(x, y) for x, y in vertices.tolist()]
        clipped = clip(poly, win)
        areas[k, 0] = area(poly)
        if len(clipped) < 3:
            continue
        areas[k, 1] = area(clipped)
        if areas[k, 1] > 1e-9:
            centres.append(centroid(clipped))
        triangles = ear_clip(poly)
        n_triangles += len(triangles)
        covered = sum(area([poly[i] for i in t]) for t in triangles)
        worst = max(worst, abs(covered - areas[k, 0]))
    return areas, np.array(centres), n_triangles, worst


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    polygons = []
    for _ in range(40):
        n = int(rng.integers(6, 16))
        t = np.sort(rng.uniform(0, 2 * np.pi, n))
        r = rng.uniform(0.4, 1.2, n)
        polygons.append(rng.uniform(-2, 2, 2) + np.c_[r * np.cos(t), r * np.sin(t)])
    t = np.arange(7) * 2 * np.pi / 7
    return polygons, 1.8 * np.c_[np.cos(t), np.sin(t)]


if __name__ == "__main__":
    areas, centres, n, worst = main(*inputs())
    print(f"area {areas[:, 0].sum():.3f} -> {areas[:, 1].sum():.3f}, {n} triangles, largest gap {worst:.2e}")
