async def f(xs):
    total = 0.0
    async for x in xs:
        total += x
    return total


def alternative(xs):
    total = 0.0
    for x in xs:
        total += x
    return total


arguments = ([1.0, 2.0],)
