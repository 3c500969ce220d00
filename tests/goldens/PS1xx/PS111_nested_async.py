def f(x):
    async def double():
        return 2 * x

    return double()


def alternative(x):
    def double():
        return 2 * x

    return double()
