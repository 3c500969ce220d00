def f(x):
    try:
        y = 1.0 / x
    except* ZeroDivisionError:
        y = 0.0
    return y


def rewritten(x):
    try:
        y = 1.0 / x
    except ZeroDivisionError:
        y = 0.0
    return y
