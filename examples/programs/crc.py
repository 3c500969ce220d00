"""The cyclic redundancy check CRC-32 of a message, bit by bit, and with a table that is made first.

Source: W. W. Peterson, D. T. Brown, "Cyclic codes for error detection", Proc. IRE 49 (1961), 228–235; the
polynomial is that of ISO 3309, the order of bits that of zlib.
"""

from __future__ import annotations

import numpy as np

POLYNOMIAL = 0xEDB88320


def crc_bits(message):
    """The checksum of an array of bytes, one bit at a time."""
    crc = 0xFFFFFFFF
    for byte in message:
        crc ^= int(byte)
        for _ in range(8):
            if crc & 1:
                crc = (crc >> 1) ^ POLYNOMIAL
            else:
                crc >>= 1
    return crc ^ 0xFFFFFFFF


def crc_table(message):
    """The same in the arithmetic of `uint32`, with a table of what eight steps make of each byte."""
    table = np.zeros(256, dtype=np.uint32)
    for i in range(256):
        entry = np.uint32(i)
        for _ in range(8):
            odd = entry & np.uint32(1)
            entry = entry >> np.uint32(1)
            if odd:
                entry = entry ^ np.uint32(POLYNOMIAL)
        table[i] = entry
    crc = np.uint32(0xFFFFFFFF)
    for k in range(len(message)):
        crc = table[(crc ^ message[k]) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
    return crc ^ np.uint32(0xFFFFFFFF)


def inputs(size):
    """A message of `size` bytes."""
    return (np.random.default_rng(3).integers(0, 256, size, dtype=np.uint8),)


PROGRAMS = [
    (crc_bits, lambda: inputs(9)),
    (crc_bits, lambda: inputs(33)),
    (crc_table, lambda: inputs(9)),
    (crc_table, lambda: inputs(33)),
]
"""What the tests run: a function, and what makes its arguments."""
