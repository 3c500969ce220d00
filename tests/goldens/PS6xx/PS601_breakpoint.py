def f(x):
    breakpoint()
    return x


def rewritten(x):
    print(x)
    return x
