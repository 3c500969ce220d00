import re


def f(x, name):
    if re.match("w[0-9]", name):
        return x * 2
    return x


def rewritten(x, name):
    if name.startswith("w") and name[1:].isdigit():
        return x * 2
    return x


arguments = (1.0, "w1")
