def f(x):
    def shifted(y):
        return x + y

    return shifted


def rewritten(x):
    def shifted(y):
        return x + y

    return shifted(1.0)
