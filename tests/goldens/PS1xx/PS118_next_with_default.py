def f(xs):
    return next((x for x in xs if x > 1.0), xs[0] - 1.0)


def rewritten(xs):
    for x in xs:
        if x > 1.0:
            return x
    return xs[0] - 1.0


arguments = ([1.0, 2.0, 3.0],)
