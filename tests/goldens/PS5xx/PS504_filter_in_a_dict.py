def f(x):
    return {"positive": filter(None, x)}


def alternative(x):
    return {"positive": list(filter(None, x))}


arguments = ([1.0, 2.0],)
