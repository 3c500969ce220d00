class Config(dict):
    pass


def f(x):
    return Config(x=x)


def alternative(x):
    return {"x": x}
