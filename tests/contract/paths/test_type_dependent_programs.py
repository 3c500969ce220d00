"""Programs that tell of which type a number is, in loops where the first trip finds another type than the others."""

from __future__ import annotations

import numpy as np
import pystage
import pytest
from checking import check

X = np.linspace(-1, 2, 5)


def printed(x):
    s = 0
    for v in x:
        print(s)
        s = s + v
    return s


def asked(x):
    s, k = 0, 0
    while k < len(x):
        print("int" if isinstance(s, int) else f"not int {s}", type(s).__name__)
        s = s + x[k]
        k += 1
    return s


def show(value):
    print("<", value, ">")


def by_a_callee(x):
    s = 0
    show(s)
    show(1.5 * x[0])
    for v in x:
        show(s)
        s = s + v
    return s


@pytest.mark.parametrize("function", [printed, asked, by_a_callee])
def test_printed(function, capsys) -> None:
    for x in (X, X[:1], X[:0]):
        try:
            function(x)
        except IndexError:
            continue
        expected = capsys.readouterr().out
        pystage.compile(function)(x)
        assert capsys.readouterr().out == expected


def failing(x):
    s = 0
    for v in x:
        if v > 0:
            raise ValueError(f"{s} and {v}")
        s = s + v
    return s


def test_text_of_an_exception() -> None:
    check(failing, X, raises=ValueError)
    check(failing, np.array([1.0, 2.0]), raises=ValueError)
