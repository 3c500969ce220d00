def f(x):
    try:
        y = 1 / x
    except* ZeroDivisionError:
        y = None
    return y


def rewritten(x):
    try:
        y = 1 / x
    except ZeroDivisionError:
        y = None
    return y
