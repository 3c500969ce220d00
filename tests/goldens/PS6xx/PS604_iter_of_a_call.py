def f(xs):
    position = iter(xs)
    total = 0.0
    for x in iter(lambda: next(position), 3.0):
        total += x
    return total


def rewritten(xs):
    total = 0.0
    for x in xs:
        if x == 3.0:
            break
        total += x
    return total


arguments = ([1.0, 2.0, 3.0],)
