def f(x):
    try:
        inverse = 1.0 / x
    except ZeroDivisionError:
        pass
    return inverse


def rewritten(x):
    inverse = 0.0
    try:
        inverse = 1.0 / x
    except ZeroDivisionError:
        pass
    return inverse
