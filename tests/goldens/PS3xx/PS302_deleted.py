def f(x):
    y = x + 1
    del y
    return y


def rewritten(x):
    y = x + 1
    return y
