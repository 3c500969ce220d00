def f(x):
    class Counter:
        total = 0.0

    Counter.total += x
    return Counter.total


def rewritten(x):
    total = 0.0
    total += x
    return total
