def f(x):
    if False:
        scale = 2.0
    return x * scale


def rewritten(x):
    scale = 2.0
    return x * scale
