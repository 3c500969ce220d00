class Batch(list):
    def total(self):
        return sum(self)


def f(x):
    batch = Batch()
    batch.append(x)
    return batch.total()


class Plain:
    def __init__(self):
        self.items = []

    def total(self):
        return sum(self.items)


def rewritten(x):
    batch = Plain()
    batch.items.append(x)
    return batch.total()
