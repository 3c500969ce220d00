"""`error.add_note(…)` in a handler: the notes of what leaves the program, of its cause and of its context."""

from __future__ import annotations

import pytest
from checking import Cases, check

cases = Cases()


@cases(0.5)
@cases(2.0, raises=ValueError)
def raised_again(x):
    try:
        if x > 1:
            raise ValueError("large")
    except ValueError as error:
        error.add_note("noted")
        raise
    return x


@cases(2.0, raises=ValueError)
def two_notes(x):
    try:
        if x > 1:
            raise ValueError("large", x)
    except ValueError as error:
        error.add_note(f"at {x}")
        error.add_note("more")
        raise error
    return x


@cases(2.0, raises=KeyError)
def of_the_cause(x):
    try:
        if x > 1:
            raise ValueError("large", x)
    except ValueError as error:
        error.add_note(f"at {x}")
        error.add_note("more")
        raise KeyError(x) from error
    return x


@cases(2.0, raises=KeyError)
def of_the_context(x):
    try:
        if x > 1:
            raise ValueError("large", x)
    except ValueError as error:
        error.add_note(f"at {x}")
        raise KeyError(x)
    return x


@cases(2.0, raises=ValueError)
def in_two_handlers(x):
    try:
        try:
            raise TypeError(x)
        except TypeError:
            if x > 1:
                raise ValueError(x)
            raise ValueError("small")
    except ValueError as error:
        error.add_note("outer")
        raise error from None


def _inverse(x):
    try:
        return 1.0 / x
    except ZeroDivisionError as error:
        error.add_note(f"of {x}")
        raise


@cases(0.5)
@cases(2.0, raises=ZeroDivisionError)
@cases(-1.0, raises=ZeroDivisionError)
def in_a_function_that_is_called_twice(x):
    return _inverse(x + 1.0) + _inverse(x - 2.0)


@cases(2.0)
def not_raised_again(x):
    try:
        if x > 1:
            raise ValueError("large", x)
    except ValueError as error:
        error.add_note("noted")
        return str(error), error.args[1]
    return "", x


@cases(2.0, refused="PS308")
def in_a_branch(x):
    try:
        if x > 1:
            raise ValueError("large", x)
    except ValueError as error:
        if x > 1.5:
            error.add_note(f"at {x}")
        raise
    return x


@cases(2.0, refused="PS308")
def of_what_a_list_holds(x):
    found = []
    try:
        if x > 1:
            raise ValueError("large", x)
    except ValueError as error:
        found.append(error)
        error.add_note(f"at {x}")
        raise found[0]
    return x


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_notes(function, args, options):
    check(function, *args, **options)
