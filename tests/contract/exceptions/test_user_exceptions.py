"""Exceptions that the program makes and catches: their text, arguments, cause and attributes."""

from __future__ import annotations

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

LOG = []
HELD = np.array([1.0, 2.0])


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


class Demanding(Exception):
    def __init__(self, number):
        super().__init__(number, "of two")
        if number > 3:
            raise TypeError("too much")
        self.inverse = 6 // number


class Kept(Exception):
    def __init__(self, number):
        self.items = [number]


class Reading(Exception):
    def __init__(self):
        self.held = HELD[0]


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


@cases.each((4,), (2,), (0,), (-1,))
def an_init_that_raises(n):
    try:
        if n >= 0:
            raise Demanding(n)
    except TypeError:
        return -1
    except ZeroDivisionError:
        return -2
    except Demanding:
        return 7
    return n


@cases(4.0)
def an_init_that_certainly_raises(x):
    try:
        if x > 1:
            raise Demanding(5)
    except TypeError:
        return 1.0
    except Demanding:
        return 2.0
    return x


@cases(0, raises=ZeroDivisionError)
@cases(4, raises=TypeError)
@cases(2)
def made_and_not_raised(n):
    error = Demanding(n)
    return n, error is None


@cases.each((2.0,), (0.5,))
def arguments_that_an_init_sets(x):
    try:
        if x > 1:
            raise OutOfReach(1)
    except OutOfReach as error:
        return error.args[0]
    return ""


@cases(2.0, refused="PS308")
def an_object_that_an_init_makes(x):
    try:
        if x > 1:
            raise Kept(x)
    except Kept as error:
        error.items.append(x)
        return len(error.items)
    return 0


@cases(2.0, refused="PS308")
def what_an_init_read_before_it_changed(x):
    HELD[0] = 1.0
    try:
        if x > 1:
            raise Reading
    except Reading as error:
        HELD[0] = 5.0
        return error.held
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


def stores_before(x):
    error = Farther(x)
    error.code = 8
    raise error


def stores_after(x):
    try:
        if x > 1:
            raise Farther(x)
    except Farther as error:
        error.code = 8
    return x


def test_stores_into_exceptions_are_refused_by_name():
    for program, name in (
        (stores_before, "an instance of Farther"),
        (stores_after, "an exception that was caught"),
    ):
        with pytest.raises(pystage.StagingError, match=f"PS503.*the attribute 'code' of {name}"):
            pystage.compile(program)(2.0)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
