class Registry(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class Model(metaclass=Registry):
    def __init__(self, scale):
        self.scale = scale


def f(x):
    return Model(2.0).scale * x


class PlainModel:
    def __init__(self, scale):
        self.scale = scale


def rewritten(x):
    return PlainModel(2.0).scale * x
