from operator import itemgetter


def f(x):
    return sorted([(2.0, x), (1.0, x)], key=itemgetter(0))[0][1]


def rewritten(x):
    return sorted([(2.0, x), (1.0, x)], key=lambda item: item[0])[0][1]
