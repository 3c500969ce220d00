def f(xs):
    return (2 * x for x in xs)


def rewritten(xs):
    return [2 * x for x in xs]


arguments = ([3.0, 4.0],)
