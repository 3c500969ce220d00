def f(x):
    class Point:
        x = 1

    return Point().x + x
