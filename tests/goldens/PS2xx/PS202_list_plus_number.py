def f(xs, y):
    return xs + y


def rewritten(xs, y):
    return [x + y for x in xs]


arguments = ([1.0, 2.0], 3.0)
