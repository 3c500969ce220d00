class Doubling:
    def __init__(self, start):
        self.value = start

    def __iter__(self):
        return self

    def __next__(self):
        self.value = self.value * 2
        return self.value


def f(x, limit):
    for value in Doubling(x):
        if value > limit:
            break
    return value


def rewritten(x, limit):
    values = Doubling(x)
    value = next(values)
    while value <= limit:
        value = next(values)
    return value


arguments = (1.0, 100.0)
