def f(xs):
    yield from xs


def alternative(xs):
    return list(xs)


arguments = ([1.0, 2.0],)
