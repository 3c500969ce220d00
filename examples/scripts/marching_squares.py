"""Contour lines of a scalar field by marching squares: segments joined into polylines, lengths, closed or open."""

import numpy as np

# edges of a cell: 0 bottom, 1 right, 2 top, 3 left
CASES = {
    1: [(3, 0)],
    2: [(0, 1)],
    3: [(3, 1)],
    4: [(1, 2)],
    6: [(0, 2)],
    7: [(3, 2)],
    8: [(2, 3)],
    9: [(2, 0)],
    11: [(2, 1)],
    12: [(1, 3)],
    13: [(1, 0)],
    14: [(0, 3)],
}


def segments(field, level):
    rows, cols = field.shape
    above = field > level
    segs = []
    points = {}

    def edge_point(i, j, edge):
        if edge == 0:
            a, b = (i, j), (i, j + 1)
        elif edge == 1:
            a, b = (i, j + 1), (i + 1, j + 1)
        elif edge == 2:
            a, b = (i + 1, j), (i + 1, j + 1)
        else:
            a, b = (i, j), (i + 1, j)
        key = (a, b)
        if key not in points:
            t = (level - field[a]) / (field[b] - field[a])
            points[key] = (a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]))
        return key

    for i in range(rows - 1):
        for j in range(cols - 1):
            code = above[i, j] + 2 * above[i, j + 1] + 4 * above[i + 1, j + 1] + 8 * above[i + 1, j]
            if code in (0, 15):
                continue
            if code in (5, 10):
                centre = field[i : i + 2, j : j + 2].mean() > level
                pairs = [(3, 2), (1, 0)] if (code == 5) == centre else [(3, 0), (1, 2)]
            else:
                pairs = CASES[int(code)]
            for e0, e1 in pairs:
                segs.append((edge_point(i, j, e0), edge_point(i, j, e1)))
    return segs, points


def join(segs):
    at = {}
    for k, (a, b) in enumerate(segs):
        at.setdefault(a, []).append(k)
        at.setdefault(b, []).append(k)
    used = [False] * len(segs)

    def follow(k, end):
        chain = [end]
        while True:
            used[k] = True
            a, b = segs[k]
            end = b if chain[-1] == a else a
            chain.append(end)
            options = [m for m in at[end] if not used[m]]
            if not options:
                return chain
            k = options[0]

    lines = []
    # open lines start at the border, where a point has one segment only
    for p, ks in at.items():
        if len(ks) == 1 and not used[ks[0]]:
            lines.append(follow(ks[0], p))
    for k in range(len(segs)):
        if not used[k]:
            lines.append(follow(k, segs[k][0]))
    return lines


def main(field, levels):
    report = []
    longest = np.zeros((0, 2))
    for level in levels:
        segs, points = segments(field, level)
        for line in join(segs):
            xy = np.array([points[p] for p in line])
            length = np.sqrt((np.diff(xy, axis=0) ** 2).sum(axis=1)).sum()
            report.append((float(level), len(line), float(length), line[0] == line[-1]))
            if len(xy) > len(longest):
                longest = xy
    return report, longest


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:48, 0:64]
    field = np.zeros((48, 64))
    for _ in range(7):
        cy, cx, s = rng.uniform(0, 48), rng.uniform(0, 64), rng.uniform(4, 10)
        field += rng.choice([-1, 1]) * np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / (2 * s * s))
    return field, np.linspace(-0.6, 0.6, 7) + 0.01


if __name__ == "__main__":
    report, longest = main(*inputs())
    for level, n, length, closed in report:
        print(f"{level:+.2f} {n:4d} points, length {length:7.2f}", "closed" if closed else "open")
