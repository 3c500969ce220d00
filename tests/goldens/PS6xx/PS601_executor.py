import concurrent.futures


def double(x):
    return 2 * x


def f(xs):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(double, xs))


def rewritten(xs):
    return [double(x) for x in xs]


arguments = ([1.0, 2.0],)
