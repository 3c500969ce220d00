"""Two-pass connected component labelling with union-find; area, bounding box and centroid of every blob."""

import numpy as np


class UnionFind:
    def __init__(self):
        self.parent = [0]

    def make(self):
        self.parent.append(len(self.parent))
        return len(self.parent) - 1

    def find(self, x):
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a < b:
            self.parent[b] = a
        elif b < a:
            self.parent[a] = b


def label(mask):
    h, w = mask.shape
    labels = np.zeros((h, w), dtype=np.int32)
    uf = UnionFind()
    for y in range(h):
        for x in range(w):
            if not mask[y, x]:
                continue
            neighbours = []
            if x > 0 and labels[y, x - 1]:
                neighbours.append(labels[y, x - 1])
            if y > 0:
                for dx in (-1, 0, 1):
                    if 0 <= x + dx < w and labels[y - 1, x + dx]:
                        neighbours.append(labels[y - 1, x + dx])
            if not neighbours:
                labels[y, x] = uf.make()
            else:
                m = min(neighbours)
                labels[y, x] = m
                for n in neighbours:
                    uf.union(m, n)

    # second pass: renumber the roots 1, 2, 3, ...
    final = {}
    for y in range(h):
        for x in range(w):
            if labels[y, x]:
                root = uf.find(labels[y, x])
                if root not in final:
                    final[root] = len(final) + 1
                labels[y, x] = final[root]
    return labels, len(final)


def region_props(labels, n):
    props = []
    for k in range(1, n + 1):
        ys, xs = np.nonzero(labels == k)
        props.append(
            {
                "area": len(ys),
                "bbox": (ys.min(), xs.min(), ys.max() + 1, xs.max() + 1),
                "centroid": (ys.mean(), xs.mean()),
            }
        )
    return props


def main(mask, min_area=4):
    labels, n = label(mask)
    props = region_props(labels, n)
    big = [p for p in props if p["area"] >= min_area]
    big.sort(key=lambda p: p["area"], reverse=True)
    return labels, n, big


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.random((64, 80))
    smooth = (noise + np.roll(noise, 1, 0) + np.roll(noise, 1, 1) + np.roll(noise, (1, 1), (0, 1))) / 4
    return (smooth > 0.58,)


if __name__ == "__main__":
    labels, n, big = main(*inputs())
    print(n, "components, largest", big[0])
