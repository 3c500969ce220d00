import datetime


def f(x):
    return x, datetime.datetime.now()


def alternative(x):
    return x
