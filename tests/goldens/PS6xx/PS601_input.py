def f(x):
    return x * float(input())


def rewritten(x, answer=2.0):
    return x * answer
