import collections


def f(xs):
    counts = collections.Counter(xs)
    return counts[1.0]


def rewritten(xs):
    counts = {}
    for x in xs:
        counts[x] = counts.get(x, 0) + 1
    return counts[1.0]


arguments = ([1.0, 2.0, 1.0],)
