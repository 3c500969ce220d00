class Shape:
    __slots__ = ("width",)

    def __init__(self):
        self.width = 2.0


def f(x):
    shape = Shape()
    return x * shape.__sizeof__()
