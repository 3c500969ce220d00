def f(xs):
    for x in xs:
        yield x * 2


def alternative(xs):
    found = []
    for x in xs:
        found.append(x * 2)
    return found


arguments = ([1.0, 2.0],)
