def f(x: "f32[batch, 784]", w: "f32[hidden, 784]"):
    return x @ w


def rewritten(x: "f32[batch, 784]", w: "f32[hidden, 784]") -> "f32[batch, hidden]":
    return x @ w.T
