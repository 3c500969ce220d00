def f(n):
    return n & 0xFFFFFFFFFFFFFFFF


def rewritten(n):
    return n & 0x7FFFFFFFFFFFFFFF


arguments = (3,)
