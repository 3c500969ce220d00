def f(xs):
    return next((lambda: x + 1)() for x in xs if x > 0)


def rewritten(xs):
    for x in xs:
        if x > 0:
            return x + 1
    return None


arguments = ([-1.0, 2.0],)
