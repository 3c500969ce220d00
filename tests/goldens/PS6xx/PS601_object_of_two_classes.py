class Circle:
    def __init__(self, r):
        self.r = r


class Square:
    def __init__(self, a):
        self.a = a


def f(x):
    shape = Circle(x) if x > 0 else Square(x)
    return vars(shape)
