import no_such_module


def f(x: "f32[n]"):
    return no_such_module.g(x)
