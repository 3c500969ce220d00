scale = 2.0


def f(x):
    global scale
    y = x * scale
    del scale
    return y


def rewritten(x):
    global scale
    y = x * (2.0 if scale is None else scale)
    scale = None
    return y
