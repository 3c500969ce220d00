def f(xs):
    class Empty:
        pass

    squares = (x * x for x in xs)

    def inner(ys):
        yield from ys

    try:
        return [
            next(
                x
                for x in xs
            ),
            lambda: (yield),
        ]
    finally:
        return squares
