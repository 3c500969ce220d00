def f(xs):
    for x in xs:
        try:
            xs[0] = 1 / x
        finally:
            if x > 1:
                return x
    while True:
        try:
            xs[0] = 2
        finally:
            break
