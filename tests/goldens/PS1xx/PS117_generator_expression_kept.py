def f(xs):
    squares = (x * x for x in xs)
    first = max(xs)
    return sum(squares) / first


def rewritten(xs):
    squares = [x * x for x in xs]
    first = max(xs)
    return sum(squares) / first


arguments = ([1.0, 2.0],)
