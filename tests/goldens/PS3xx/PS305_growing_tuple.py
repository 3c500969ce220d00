def f(x):
    path = ()
    while x > 1.0:
        x = x / 2
        path = (*path, x)
    return path


arguments = (8.0,)
