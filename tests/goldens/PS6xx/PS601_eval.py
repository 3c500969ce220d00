def f(x):
    return eval("x + 1")


def rewritten(x):
    return x + 1
