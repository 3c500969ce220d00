def f(x):
    x.name = "weights"
    return x
