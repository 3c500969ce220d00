def f(xs, limit):
    found = None
    if xs[0] > limit:
        found = xs[0]
    return found * 2


def rewritten(xs, limit):
    found = None
    if xs[0] > limit:
        found = xs[0]
    return found * 2 if found is not None else None


arguments = ([1.0, 2.0], 0.5)
