def f(xs):
    return next(x for x in xs if x > 0)


def rewritten(xs):
    for x in xs:
        if x > 0:
            return x
    return None


arguments = ([-1.0, 2.0],)
