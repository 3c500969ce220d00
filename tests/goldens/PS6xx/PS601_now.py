import datetime


def f(x):
    return x, datetime.datetime.now()


def rewritten(x):
    return x
