def f(x):
    exec("y = x + 1")
    return x


def rewritten(x):
    return x
