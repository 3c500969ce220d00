import numpy as np

TEXT = "pack my box with five dozen liquor jugs " * 200


def f(x):
    for letter in TEXT:
        x = x + 1.0 if letter in "aeiou" else x * 0.5
    return x


VOWEL = np.array([letter in "aeiou" for letter in TEXT])


def rewritten(x):
    for vowel in VOWEL:
        x = x + 1.0 if vowel else x * 0.5
    return x
