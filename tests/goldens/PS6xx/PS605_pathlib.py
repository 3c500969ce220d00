import pathlib


def f(x):
    text = pathlib.Path("scale.txt").read_text()
    return x * float(text)


def rewritten(x, text="2.0"):
    return x * float(text)
