import hashlib


def f(x):
    return x, hashlib.sha256(b"x").hexdigest()
