def f(xs):
    return iter(xs)


def alternative(xs):
    return list(xs)


arguments = ([1.0, 2.0],)
