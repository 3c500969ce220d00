class Once:
    def __new__(cls, value):
        self = super().__new__(cls)
        self.value = value
        return self


def f(x):
    return Once(x).value


class Each:
    def __init__(self, value):
        self.value = value


def rewritten(x):
    return Each(x).value
