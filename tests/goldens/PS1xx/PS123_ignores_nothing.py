import pystage


@pystage.compile
def f(x: "f32[n]"):
    return x * 2  # pystage: ignore[PS201]
