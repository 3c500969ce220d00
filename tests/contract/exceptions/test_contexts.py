"""What was being handled when an exception was raised: its `__context__`, which `check` compares all the way down."""

from __future__ import annotations

import contextlib

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()


@cases.each((2.0,), (0.5,), raises=KeyError)
def raised_in_a_handler(x):
    try:
        if x > 1:
            raise ValueError(f"large {x}")
        raise TypeError("small", x)
    except (ValueError, TypeError):
        raise KeyError(x)


@cases.each((0.0,), raises=ValueError)
def raised_in_a_handler_of_an_error_of_arithmetic(x):
    try:
        return 1.0 / x
    except ZeroDivisionError:
        raise ValueError("no inverse of", x)


@cases(np.arange(3.0), 5, raises=ZeroDivisionError)
def errors_of_the_library(a, i):
    try:
        return a[i]
    except IndexError:
        return np.float64(1 // (i - 5))


@cases(2.0, raises=KeyError)
def from_what_is_handled(x):
    try:
        if x > 1:
            raise ValueError(x)
    except ValueError as error:
        raise KeyError("k") from error
    return x


@cases(2.0, raises=KeyError)
def from_nothing(x):
    try:
        if x > 1:
            raise ValueError(x)
    except ValueError:
        raise KeyError("k") from None
    return x


@cases(2.0, raises=KeyError)
def from_something_else(x):
    try:
        if x > 1:
            raise ValueError(x)
    except ValueError:
        raise KeyError("k") from TypeError("other", x)
    return x


@cases.each((2.0,), (0.5,), raises=ValueError)
def raised_again(x):
    try:
        if x > 1:
            raise ValueError(x)
        raise ValueError("other")
    except ValueError as error:
        if x > 1:
            raise
        raise error


@cases.each((2.0,), (0.5,), raises=ValueError)
def raised_again_from_nothing(x):
    try:
        try:
            if x > 1:
                raise KeyError(x)
        except KeyError:
            raise ValueError("first")
        raise ValueError("second")
    except ValueError as error:
        raise error from None


@cases(2.0, raises=ValueError)
def raised_again_from_another(x):
    try:
        if x > 1:
            raise ValueError(x)
    except ValueError as error:
        raise error from KeyError(x)
    return x


@cases.each((2.0,), (0.5,), raises=TypeError)
def nested_handlers(x):
    try:
        if x > 0:
            raise ValueError(x)
    except ValueError:
        try:
            if x > 1:
                raise KeyError(x * 2)
        except KeyError:
            raise TypeError(x * 3)
        raise TypeError("outer", x)
    return x


@cases.each((2.0,), (0.5,), raises=TypeError)
def what_was_handled_is_over(x):
    try:
        if x > 0:
            raise ValueError(x)
    except ValueError:
        try:
            if x > 1:
                raise KeyError(x * 2)
        except KeyError:
            pass
        raise TypeError("outer", x)
    return x


@cases(2.0, raises=TypeError)
def after_a_handler(x):
    try:
        if x > 1:
            raise ValueError(x)
    except ValueError:
        x = x + 1
    raise TypeError(x)


@cases.each((2.0,), (0.5,), raises=TypeError)
def handled_one_after_the_other(x):
    try:
        if x > 1:
            raise ValueError(x)
    except ValueError:
        x = 0.5
    try:
        raise KeyError(x)
    except KeyError:
        raise TypeError(x)


@cases.each((2.0,), (0.5,), raises=TypeError)
def raised_in_finally(x):
    try:
        if x > 1:
            raise ValueError(x)
    finally:
        raise TypeError(x * 2)


@cases.each((2.0,), (0.5,), (-1.0,), raises=TypeError)
def raised_in_finally_of_a_handler(x):
    try:
        if x > 0:
            raise ValueError(x)
    except ValueError:
        if x > 1:
            raise KeyError(x)
    finally:
        raise TypeError(x * 2)


@cases.each((2.0,), (0.5,), raises=TypeError)
def finally_in_a_handler(x):
    try:
        raise ValueError(x)
    except ValueError:
        try:
            if x > 1:
                raise KeyError(x)
        finally:
            raise TypeError(x * 2)


@cases(2.0, raises=KeyError)
def finally_after_a_handler(x):
    try:
        if x > 1:
            raise ValueError(x)
    except ValueError:
        raise KeyError(x)
    finally:
        x = x + 1
    return x


def _inverse(x):
    if x > 1:
        raise KeyError("too large", x)
    return 1.0 / x


def _translated(x):
    try:
        return _inverse(x)
    except KeyError:
        raise LookupError(x)


@cases.each((2.0,), (0.0,), raises=(KeyError, ZeroDivisionError))
def raised_by_a_call(x):
    try:
        raise ValueError(x)
    except ValueError:
        return _inverse(x)


@cases.each((2.0, 3.0), (0.5, 3.0), (0.5, 0.0), raises=(LookupError, ZeroDivisionError))
def raised_by_the_second_call(x, y):
    try:
        return _translated(x) + _translated(y)
    except ValueError:
        return 0.0


@cases.each((2.0, 3.0), (0.5, 3.0), raises=(LookupError,))
def raised_by_a_call_with_handlers_of_its_own(x, y):
    try:
        x = _translated(x)
    except LookupError:
        _translated(y)
    return _translated(y)


@cases.each((4,), (2,), (1,), raises=(KeyError, ZeroDivisionError))
def in_a_loop(n):
    for i in range(5):
        try:
            if i == n:
                raise ValueError(i)
        except ValueError:
            if i > 2:
                raise KeyError(i)
            return i // (i - n)
    return n


@cases(4, raises=KeyError)
def a_loop_in_a_handler(n):
    try:
        if n > 3:
            raise ValueError(n)
    except ValueError:
        for i in range(10):
            try:
                if i == n:
                    raise TypeError(i)
            except TypeError:
                raise KeyError(n, i)
    return n


class Manager:
    def __init__(self, limit):
        self.limit = limit

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.limit > 1:
            raise TypeError("leaving", self.limit)


@cases.each((2.0,), (0.5,), raises=(TypeError, ValueError))
def raised_by_a_manager(x):
    with Manager(x):
        if x > 0:
            raise ValueError(x)
    return x


@cases(2.0, raises=KeyError)
def after_what_was_suppressed(x):
    with contextlib.suppress(ValueError):
        if x > 1:
            raise ValueError(x)
    raise KeyError(x)


@cases.each((2.0,), (3.0,), raises=(AssertionError, TypeError))
def a_branch_in_a_handler(x):
    try:
        raise ValueError(x)
    except ValueError:
        if x < 2.5:
            raise AssertionError("small")
        raise TypeError("large")


@cases.each((2.0,), (0.5,))
def context_of_what_is_handled_in_turn(x):
    try:
        try:
            if x > 1:
                raise ValueError(x)
        except ValueError:
            raise KeyError(x)
    except KeyError as error:
        return str(error)
    return "none"


def _looked_up(a, i):
    try:
        return a[i]
    except IndexError:
        if i > 5:
            raise KeyError(i)
        return 0.0


@cases(np.arange(4.0), 7, raises=KeyError)
def after_the_same_was_suppressed(a, i):
    with contextlib.suppress(KeyError):
        a[0] = _looked_up(a, i)
    a[1] = _looked_up(a, i)
    return a


@pytest.mark.parametrize("function, args, options", cases.params)
def test_contexts(function, args, options):
    raises = options.get("raises")
    if isinstance(raises, tuple):
        try:
            function(*args)
        except raises as error:
            options = {**options, "raises": type(error)}
        else:
            options = {}
    check(function, *args, **options)


def test_what_the_caller_handles_is_the_context_of_the_last():
    staged = pystage.compile(from_nothing, fallback="error")
    found = []
    for function in (from_nothing, staged):
        try:
            raise OSError("outside")
        except OSError:
            with pytest.raises(KeyError) as caught:
                function(2.0)
        chain, error = [], caught.value
        while error is not None:
            chain.append(repr(error))
            error = error.__context__
        found.append(chain)
    assert found[0] == found[1] == ["KeyError('k')", "ValueError(2.0)", "OSError('outside')"]


def test_what_another_handler_has_caught_is_refused():
    def program(x):
        try:
            if x > 1:
                raise ValueError(x)
        except ValueError as error:
            try:
                if x > 1:
                    raise KeyError(x)
            except KeyError:
                raise error
        return x

    check(program, 2.0, refused="PS308")


def test_a_raise_of_what_a_finally_interrupts_is_refused():
    def program(x):
        try:
            raise TypeError(x)
        except TypeError:
            try:
                raise KeyError(x)
            finally:
                raise

    check(program, 2.0, refused="PS308")

    def raised_again(x):
        try:
            raise TypeError(x)
        finally:
            try:
                raise KeyError(x)
            except KeyError:
                raise

    check(raised_again, 2.0, raises=KeyError)
