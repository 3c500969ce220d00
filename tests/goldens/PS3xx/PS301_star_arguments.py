def f(x):
    args = [x]
    if x > 0:
        args.append(x)
    return max(0.0, *args)
