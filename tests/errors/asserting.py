"""Programs with `assert`: in a file of their own, as pytest writes other messages into those of test files."""


def asserted(x):
    assert x > 0
    return x


def asserted_with_a_message(x):
    assert x > 0, f"{x} is not positive"
    return x
