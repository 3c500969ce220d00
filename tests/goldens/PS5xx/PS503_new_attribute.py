def f(x):
    x.name = "weights"
    return x


def rewritten(x):
    return {"name": "weights", "value": x}
