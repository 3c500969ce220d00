def f(xs):
    yield from xs


def rewritten(xs):
    return list(xs)


arguments = ([1.0, 2.0],)
