async def f(xs):
    async with xs.lock():
        parts = [x async for x in xs]
    async for x in xs:
        parts.append(x)
    return await xs.total(parts)
