def f(xs):
    return next(x for x in xs if x > 0)
