async def f(xs):
    total = 0.0
    async for x in xs:
        total += x
    return total
