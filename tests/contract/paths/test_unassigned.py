"""Variables and attributes that are read where some paths have not assigned them: Python's own exception, on those paths."""

from __future__ import annotations

import sys

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()


class Box:
    shared = -1.0


def raises(kind, *args):
    """A case whose plain run raises."""
    return cases(*args, raises=kind)


def unbound(*args):
    return raises(UnboundLocalError, *args)


# ---------------------------------------------------------------- variables of functions


@unbound(-3.0)
@cases(3.0)
def one_branch(x):
    if x > 0:
        root = np.sqrt(x)
    return root


@unbound(3.0, 2.0)
@cases.each((3.0, 0.0), (0.5, 0.0))
def another_condition(x, y):
    if x > 4:
        z = x
    if y > 1:
        return z
    return y


@unbound(np.array([-1.0, -2.0]))
@cases(np.array([-1.0, 2.0]))
def found_in_a_loop(x):
    for value in x:
        if value > 0:
            found = value
    return found * 2


@unbound(np.arange(5.0), 0)
@cases.each((np.arange(5.0), 3), (np.arange(5.0), 1))
def loop_that_may_not_run(x, n):
    total = 0.0
    for i in range(n):
        last = x[i]
        total += last
    return total, last, i


@unbound(np.arange(2.0))
@cases(np.arange(5.0))
def while_found(x):
    i = 0
    while i < len(x):
        if x[i] > 2.0:
            place = i
        i += 1
    return place


@unbound(0.0)
@cases(4.0)
def while_that_may_not_run(x):
    while x > 1.0:
        half = x / 2
        x = half
    return half


@unbound(np.array([1.5, 3.0]))
@unbound(np.array([1.5]))
@cases.each((np.array([3.0, 1.5]),), (np.array([0.5, 1.5, 0.2]),))
def one_arm(x):
    total = 0.0
    for value in x:
        if value > 2.0:
            kind = 2.0
        elif value > 1.0:
            total += kind
        else:
            kind = 0.0
    return total, kind


@unbound(np.array([0.0, 2.0]), 0.0)
@cases.each((np.array([1.0, 2.0]), 1.0), (np.array([0.0]), 2.0))
def read_in_a_later_trip(x, start):
    total = start
    for i in range(len(x)):
        if i > 0 or start == 0.0:
            total += previous  # noqa: F821
        previous = x[i]
    return total


@unbound(0.0)
@cases(2.0)
def after_a_try(x):
    try:
        inverse = 1.0 / x
    except ZeroDivisionError:
        pass
    return inverse


@unbound(np.zeros((2, 2)))
@cases(np.eye(2))
def passed_over_by_continue(x):
    i = 0
    while i < 5:
        i += 1
        try:
            step = np.linalg.solve(x * i, np.ones(2))
        except np.linalg.LinAlgError:
            continue
        error = step @ np.ones(2)
        if error < 0.5:
            break
    return error


@unbound(-1.0)
@cases(1.0)
def augmented(x):
    if x > 0:
        y = x
    y += 1.0
    return y


@unbound(2.0)
@cases(-2.0)
def deleted(x):
    y = x + 1
    if x > 0:
        del y
    return y * 2


@unbound(2.0)
@unbound(-2.0)
def deleted_twice(x):
    y = x
    if x > 0:
        del y
    del y
    return y  # noqa: F821


@unbound(2.0)
def never_assigned(x):
    y = x
    del y
    return y  # noqa: F821


@unbound(2.0)
@cases(0.0)
def deleted_by_a_handler(x):
    error = None
    try:
        y = 1 / x
    except ZeroDivisionError as failed:
        error = failed
        return 0.0
    if error is None:
        return failed  # noqa: F821
    return y


@unbound(1.0, 3.0)
@cases.each((3.0, 1.0), (-1.0, -1.0))
def of_several_kinds(x, y):
    if x > 2:
        z = x
    elif x < 0:
        z = None
    if y > 2 or x > 2:
        return z, y
    return y if x > 0 else z, y


@unbound(-1.0)
@cases(3.0)
@cases(1.5)
def of_two_types(x):
    if x > 2:
        z = 1
    elif x > 0:
        z = "small"
    return z


@unbound(2.0)
@cases(-2.0)
def lists(x):
    if x < 0:
        parts = [x, 2 * x]
    total = 0.0
    for part in parts:
        total += part
    return total


# ---------------------------------------------------------------- shared variables, other scopes


@raises(NameError, -2.0)
@cases(2.0)
def free_variable(x):
    def read():
        return y + 1

    if x > 0:
        y = x
    return read()


@unbound(-2.0)
@cases(2.0)
def own_shared_variable(x):
    def read():
        return y + 1

    if x > 0:
        y = x
    return y + read()


@unbound(-2.0)
@cases(2.0)
def in_a_callee(x):
    def inner(c):
        if c > 0:
            y = c
        return y

    return inner(x) + inner(x)


@raises(NameError if sys.version_info < (3, 12) else UnboundLocalError, -2.0)
@cases(2.0)
def in_a_comprehension(x):
    if x > 0:
        y = x
    return sum([y * i for i in range(3)])


@raises(NameError, -2.0)
@cases(2.0)
def in_a_generator_expression(x):
    if x > 0:
        y = x
    return sum(y * i for i in range(3))


@unbound(-2.0)
@cases(2.0)
def the_first_iterable(x):
    if x > 0:
        y = [x, 2.0]
    return sum([v * 2 for v in y])


@raises(NameError, -2.0)
@cases(2.0)
def deleted_free_variable(x):
    def drop():
        nonlocal y
        del y

    if x > 0:
        y = x
    drop()
    return x


# ---------------------------------------------------------------- who looks after the raise


@unbound(-2.0, np.zeros(3))
@cases(2.0, np.zeros(3))
def stores_before(x, out):
    out[0] = x
    if x > 0:
        y = x
    out[1] = y
    out[2] = 3.0
    return out


@cases.each((2.0,), (-2.0,))
def caught(x):
    try:
        if x > 0:
            y = x
        z = y * 2
    except UnboundLocalError:
        z = -1.0
    return z


@cases.each((2.0,), (-2.0,))
def caught_as_name_error(x):
    try:
        if x > 0:
            y = x
        return y * 2
    except NameError as error:
        return str(error)


@cases.each((np.array([1.0, -1.0, 2.0]),), (np.array([-1.0]),))
def caught_in_a_loop(x):
    total, missed = 0.0, 0
    for value in x:
        try:
            if value > 0:
                y = value
            total += y
            del y
        except UnboundLocalError:
            missed += 1
    return total, missed


# ---------------------------------------------------------------- attributes


@raises(AttributeError, -2.0)
@cases(2.0)
def attribute(x):
    box = Box()
    if x > 0:
        box.value = x
    return box.value


@raises(AttributeError, -2.0)
@cases(2.0)
def attribute_in_a_condition(x):
    box = Box()
    if x > 0:
        box.value = x
    return 1.0 if box.value else 2.0


@cases(np.array([1.0, 2.0, -1.0]))
@cases(np.array([-1.0, 2.0]))
def default_of_the_class(x):
    box, i = Box(), 0
    while x[i] > 0:
        box.shared = x[i]
        i += 1
    return box.shared


@cases.each((2.0,), (-2.0,))
def whether_there_is_one(x):
    box = Box()
    if x > 0:
        box.value = x
    return hasattr(box, "value"), getattr(box, "value", 0.5), hasattr(box, "shared")


@raises(AttributeError, -2.0)
@cases(2.0)
def attribute_deleted(x):
    box = Box()
    if x > 0:
        box.value = x
    del box.value
    return hasattr(box, "value")


def with_an_attribute_of_one_branch(x):
    box = Box()
    if x > 0:
        box.value = x
    box.other = 2 * x
    return box


def set_on_one_path(box, x):
    if x > 0:
        box.value = x
    return x


def deleted_on_one_path(box, x):
    if x > 0:
        del box.value
    return x


@pytest.mark.parametrize("x", [2.0, -2.0])
def test_an_object_is_given_with_the_attributes_of_the_path(x):
    made = pystage.compile(with_an_attribute_of_one_branch, fallback="error")(x)
    assert type(made) is Box and vars(made) == vars(with_an_attribute_of_one_branch(x))


@pytest.mark.parametrize("function", [set_on_one_path, deleted_on_one_path])
@pytest.mark.parametrize("x", [2.0, -2.0])
@pytest.mark.parametrize("value", [None, 7.0])
def test_an_object_of_the_caller_has_the_attributes_of_the_path(function, x, value):
    if value is None and function is deleted_on_one_path:
        return
    boxes = [Box(), Box()]
    for box in boxes:
        if value is not None:
            box.value = value
    assert function(boxes[0], x) == pystage.compile(function, fallback="error")(boxes[1], x)
    assert vars(boxes[0]) == vars(boxes[1])


def reads_a_global(x):
    global _never_there
    if x > 0:
        _never_there = x
    return _never_there * 2


def assigns_a_global(x):
    global _never_there
    if x > 0:
        _never_there = x
    return x


def test_a_variable_of_the_module_is_made_on_the_paths_that_assign_it():
    staged = pystage.compile(assigns_a_global, fallback="error")
    for x in (-1.0, 2.0, -1.0):
        globals().pop("_never_there", None)
        staged(x)
        assert globals().get("_never_there") == (x if x > 0 else None)
    staged = pystage.compile(reads_a_global, fallback="error")
    globals().pop("_never_there", None)
    for function in (reads_a_global, staged):
        with pytest.raises(NameError, match="name '_never_there' is not defined"):
            function(-1.0)
    assert staged(2.0) == 4.0
    globals().pop("_never_there", None)


@pytest.mark.parametrize("x", [2.0, -2.0])
def test_a_variable_of_an_enclosing_function_is_assigned_on_one_path(x):
    def made():
        def inner(x):
            nonlocal y
            if x > 0:
                y = x
            return x

        def read():
            return y

        if False:
            y = 0.0
        return inner, read

    for staged in (False, True):
        inner, read = made()
        (pystage.compile(inner, fallback="error") if staged else inner)(x)
        if x > 0:
            assert read() == x
        else:
            with pytest.raises(NameError):
                read()


def test_the_text_and_the_line_are_pythons_own():
    staged = pystage.compile(one_branch, fallback="error")
    with pytest.raises(UnboundLocalError) as plain:
        one_branch(-3.0)
    with pytest.raises(UnboundLocalError) as caught:
        staged(-3.0)
    assert str(caught.value) == str(plain.value)
    places = [[(e.path, e.lineno) for e in c.traceback][-1] for c in (plain, caught)]
    assert places[0] == places[1]


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
