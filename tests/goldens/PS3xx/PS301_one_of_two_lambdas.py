def f(x):
    steps = [lambda v: v + 1, lambda v: v * 2]
    for i in range(5_000):
        x = steps[i % 2](x) * 0.5
    return x


def rewritten(x):
    for i in range(2_500):
        x = (x + 1) * 0.5
        x = (x * 2) * 0.5
    return x
