import uuid


def f(x):
    return x, str(uuid.uuid4())


def alternative(x):
    return x
