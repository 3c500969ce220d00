def halvings(x):
    if x < 1.0:
        return 0
    return 1 + halvings(x / 2)


def f(x):
    return halvings(x)


def rewritten(x):
    count = 0
    while x >= 1.0:
        x = x / 2
        count += 1
    return count


arguments = (8.0,)
