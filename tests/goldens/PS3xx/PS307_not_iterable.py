def values(x):
    return [x, 2 * x]


def f(x):
    total = 0.0
    for value in values:
        total += value
    return total


def rewritten(x):
    total = 0.0
    for value in values(x):
        total += value
    return total


arguments = (2.0,)
