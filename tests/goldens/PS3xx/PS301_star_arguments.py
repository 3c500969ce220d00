def f(x):
    args = [x]
    if x > 0:
        args.append(x)
    return max(0.0, *args)


def rewritten(x):
    args = [x, 0.0]
    if x > 0:
        args[1] = x
    return max(0.0, *args)
