def f(x):
    max = max(x)
    return max


def rewritten(x):
    largest = max(x)
    return largest


arguments = ([1.0, 2.0],)
