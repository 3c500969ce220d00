def f(xs):
    for x in xs:
        yield x * 2
