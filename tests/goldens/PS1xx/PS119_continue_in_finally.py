def f(xs):
    total = 0.0
    for x in xs:
        try:
            total += 1.0 / x
        finally:
            continue
    return total


def rewritten(xs):
    total = 0.0
    for x in xs:
        try:
            total += 1.0 / x
        except ZeroDivisionError:
            pass
    return total


arguments = ([1.0, 2.0, 0.0],)
