def f(xs):
    for x in xs:
        for k in range(2, 4):
            if x == k:
                break
        else:
            yield x * 2
