class Model:
    def __init__(self):
        self.scale = 1.0

    def fit(self, x):
        if x > 0:
            self.scale = "large"


def f(x):
    model = Model()
    model.fit(x)
    return model.scale


def rewritten(x):
    model = Model()
    if x > 0:
        model.scale = 100.0
    return model.scale


arguments = (2.0,)
