import collections


def f(xs):
    groups = collections.defaultdict(list)
    for i in range(len(xs)):
        groups[i % 2].append(xs[i])
    return groups[0]


def rewritten(xs):
    groups = {}
    for i in range(len(xs)):
        groups.setdefault(i % 2, []).append(xs[i])
    return groups[0]


arguments = ([1.0, 2.0, 3.0],)
