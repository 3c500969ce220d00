def f(n):
    return n + 2**70


def alternative(n):
    return n + 2.0**70


arguments = (3,)
