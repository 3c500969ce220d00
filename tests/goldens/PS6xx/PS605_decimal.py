import decimal


def f(x):
    return x * float(decimal.Decimal("0.1"))


def rewritten(x):
    return x * 0.1
