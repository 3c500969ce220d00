def f(xs):
    squares = (x * x for x in xs)
    return sum(squares)


def rewritten(xs):
    return sum(x * x for x in xs)


arguments = ([1.0, 2.0],)
