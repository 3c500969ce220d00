import threading


def f(x):
    thread = threading.Thread(target=print, args=(x,))
    thread.start()
    return x


def rewritten(x):
    print(x)
    return x
