import json


def f(x):
    scale = json.loads("[1, 2]")
    return x * scale[0]


def rewritten(x, scale=(1, 2)):
    return x * scale[0]
