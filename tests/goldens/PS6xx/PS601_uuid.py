import uuid


def f(x):
    return x, str(uuid.uuid4())


def rewritten(x):
    return x
