def f(x):
    return hash(x)
