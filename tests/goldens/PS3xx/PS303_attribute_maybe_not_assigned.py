class Search:
    def run(self, x):
        if x > 0:
            self.found = True
        return x


def f(x):
    search = Search()
    y = search.run(x)
    if search.found:
        y = 2 * y
    return y


def rewritten(x):
    search = Search()
    search.found = False
    y = search.run(x)
    if search.found:
        y = 2 * y
    return y


arguments = (2.0,)
