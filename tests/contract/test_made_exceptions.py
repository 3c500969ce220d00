"""Exceptions that the program makes and catches: their text, arguments, cause and attributes."""

from __future__ import annotations

import pytest
from checking import Cases, check

cases = Cases()

LOG = []


class OutOfReach(Exception):
    def __init__(self, distance, unit="m"):
        super().__init__(f"too far: {distance} {unit}")
        self.distance = distance
        self.half = distance * 0.5


class Farther(OutOfReach):
    def __init__(self, distance):
        super().__init__(distance, unit="km")
        self.code = 7


class Logged(Exception):
    def __init__(self, number):
        LOG.append(number)
        super().__init__("logged")


class Printed(Exception):
    def __init__(self):
        print("made")


class Worded(Exception):
    def __str__(self):
        return "in words"


@cases.each((2.0,), (0.5,))
def attributes(x):
    try:
        if x > 1:
            raise OutOfReach(x * 2)
    except OutOfReach as error:
        return error.distance + error.half
    return x


@cases.each((2.0,), (0.5,))
def attributes_of_a_subclass(x):
    try:
        if x > 1:
            raise Farther(x)
    except OutOfReach as error:
        return error.half * error.code
    return x


@cases.each((2.0,), (0.5,))
def known_texts(x):
    try:
        if x > 1:
            raise KeyError("big")
    except Exception as error:
        if "big" in str(error) and repr(error) == "KeyError('big')":
            return 3.0
        return 4.0
    return x


@cases.each((2.0,), (0.5,))
def causes(x):
    try:
        if x > 1:
            try:
                raise KeyError("a")
            except KeyError as inner:
                raise ValueError("b") from inner
    except ValueError as error:
        return 1.0 if error.__cause__ is not None else 2.0
    return x


@cases.each((2.0,), (0.5,))
def no_cause(x):
    try:
        if x > 1:
            raise ValueError("b")
    except ValueError as error:
        return 1.0 if error.__cause__ is None else 2.0
    return x


@cases(2.0, raises=Farther)
def leaves_the_program(x):
    if x > 1:
        raise Farther(x)
    return x


@cases(2.0, refused="PS308")
def changes_a_list(x):
    try:
        if x > 1:
            raise Logged(1)
    except Logged:
        pass
    return len(LOG)


@cases(2.0, refused="PS308")
def prints(x):
    try:
        if x > 1:
            raise Printed
    except Printed:
        return 1.0
    return x


@cases(2.0, refused="PS401")
def a_text_of_its_own(x):
    try:
        if x > 1:
            raise Worded("a")
    except Worded as error:
        return 3.0 if str(error) == "in words" else 4.0
    return x


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
