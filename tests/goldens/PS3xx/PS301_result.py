def first(xs, limit):
    for x in xs:
        if x > limit:
            return [x]
    return []


def f(a, b, limit):
    return first((a, b), limit)


def rewritten(a, b, limit):
    for x in (a, b):
        if x > limit:
            return x, True
    return 0.0, False


arguments = (1.0, 2.0, 1.5)
