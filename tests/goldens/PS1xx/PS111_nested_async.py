def f(x):
    async def double():
        return 2 * x

    return double()


def rewritten(x):
    def double():
        return 2 * x

    return double()
