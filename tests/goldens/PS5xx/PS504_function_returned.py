def f(x):
    def shifted(y):
        return x + y

    return shifted


def alternative(x):
    def shifted(y):
        return x + y

    return shifted(1.0)
