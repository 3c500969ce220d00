import logging


def f(x):
    logging.info("x is %s", x)
    return x * 2


def rewritten(x):
    print("x is", x)
    return x * 2
