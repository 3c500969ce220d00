import threading


LOCK = threading.Lock()


def f(x):
    with LOCK:
        return x * 2


def rewritten(x):
    return x * 2
