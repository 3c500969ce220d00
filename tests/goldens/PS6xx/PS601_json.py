import json


def f(x):
    return json.dumps({"scale": x})


def alternative(x):
    return {"scale": x}
