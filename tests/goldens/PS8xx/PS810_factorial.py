def f(x):
    n = 1
    for i in range(1, 40):
        n *= i
    return x / n


def rewritten(x):
    n = 1.0
    for i in range(1, 40):
        n *= i
    return x / n
