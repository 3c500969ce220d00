class Config(dict):
    pass


def f(x):
    return Config(x=x)


def rewritten(x):
    return {"x": x}
