import json


def f(x):
    return json.dumps({"scale": x})


def rewritten(x):
    return {"scale": x}
