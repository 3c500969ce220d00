import struct


def f(x):
    return struct.pack("d", x)
