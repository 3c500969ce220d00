"""What cannot work is refused with a code and a place, in bounded time; the next good call works."""

from __future__ import annotations

import importlib.util
import linecache
import math
import time
import zlib

import numpy as np
import pystage
import pytest
from checking import check

SECONDS = 20.0
"""No refusal may take longer; it is generous, since the machine may be busy."""


def refusal(staged, *args):
    """The diagnostics with which a call is refused."""
    start = time.perf_counter()
    with pytest.raises(pystage.StagingError) as caught:
        staged(*args)
    assert time.perf_counter() - start < SECONDS
    diagnostics = caught.value.diagnostics
    assert diagnostics
    for diagnostic in diagnostics:
        assert diagnostic.code in str(caught.value)
    return diagnostics


def line_of(function, text):
    """The number of the line of this file, from `function` on, that contains `text`."""
    first = function.__code__.co_firstlineno
    for number in range(first, first + 60):
        if text in linecache.getline(__file__, number):
            return number
    raise AssertionError(f"{text!r} does not stand in {function.__name__}")


def assert_refused_at(function, args, code, text):
    """Asserts that staging is refused with `code`, at the line of `function` (or a callee) with `text`."""
    diagnostics = refusal(pystage.compile(function), *args)
    assert [d.code for d in diagnostics] == [code]
    span = diagnostics[0].span
    assert (span.file, span.line) == (__file__, line_of(function, text))
    return diagnostics[0]


# ---------------------------------------------------------------- the arguments of the call


def two(x, y, *, scale=1.0):
    return x * y * scale


@pytest.mark.parametrize(
    "args, kwargs",
    [
        ((1.0,), {}),
        ((1.0, 2.0, 3.0), {}),
        ((1.0, 2.0), {"other": 1}),
        ((1.0,), {"x": 1.0}),
        ((), {"scale": 2.0}),
    ],
    ids=["too few", "too many", "unknown keyword", "twice", "none"],
)
def test_wrong_number_of_arguments(args, kwargs):
    staged = pystage.compile(two)
    with pytest.raises(TypeError) as plain:
        two(*args, **kwargs)
    with pytest.raises((pystage.StagingError, TypeError)) as caught:
        staged(*args, **kwargs)
    assert str(plain.value).removeprefix("two() ") in str(caught.value)
    check(two, 2.0, 3.0, staged=staged)


class Opaque:
    __slots__ = ()


@pytest.mark.parametrize(
    "value, code",
    [
        (np.array(["a", "b"]), "PS802"),
        (np.array([1, "a"], object), "PS802"),
        (np.array(["2020-01-01"], "datetime64[D]"), "PS802"),
        (np.zeros(2, [("a", "U3")]), "PS802"),
        (2**70, "PS803"),
        ((i for i in range(3)), "PS801"),
        (iter([1.0]), "PS801"),
    ],
    ids=["strings", "objects", "dates", "records", "huge integer", "generator", "iterator"],
)
def test_arguments_of_wrong_type(value, code):
    def program(x, y):
        return x

    staged = pystage.compile(program)
    assert [d.code for d in refusal(staged, 1.0, value)] == [code]
    assert [d.code for d in refusal(staged, 1.0, {"deep": [value]})] == [code]
    check(program, 1.0, 2.0, staged=staged)


def test_cyclic_structures():
    def program(tree):
        return tree["x"]

    staged = pystage.compile(program)
    cyclic: dict = {"x": 1.0}
    cyclic["self"] = [cyclic]
    assert [d.code for d in refusal(staged, cyclic)] == ["PS804"]
    looped: list = [1.0]
    looped.append(looped)
    assert [d.code for d in refusal(staged, {"x": looped})] == ["PS804"]
    check(program, {"x": 1.0}, staged=staged)


def test_structures_deeper_than_recursion_goes():
    def program(tree):
        return tree[0]

    deep = [1.0]
    for _ in range(100_000):
        deep = [1.0, deep]
    assert [d.code for d in refusal(pystage.compile(program), deep)] == ["PS805"]


# ---------------------------------------------------------------- the source


def test_functions_of_c():
    for function in (zlib.crc32, time.sleep, "text".zfill):
        assert [d.code for d in refusal(pystage.compile(function), 1.0)] == ["PS601"]


def test_source_that_cannot_be_found():
    namespace: dict = {}
    exec("def made(x):\n    return x + 1\n", namespace)
    assert [d.code for d in refusal(pystage.compile(namespace["made"]), 1.0)] == ["PS101"]


def test_callee_whose_source_cannot_be_found():
    namespace: dict = {}
    exec("def made(x):\n    return x + 1\n", namespace)
    made = namespace["made"]

    def program(x):
        return made(x) * 2  # called here

    (diagnostic,) = refusal(pystage.compile(program), 1.0)
    assert diagnostic.code == "PS101"
    assert diagnostic.span.line == line_of(program, "# called here")


def test_source_that_changed_on_disk(tmp_path):
    path = tmp_path / "edited.py"
    path.write_text("def program(x):\n    return x + 1\n")
    spec = importlib.util.spec_from_file_location("edited", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path.write_text("def program(x):\n    y = 2\n    return x - y\n")
    linecache.checkcache(str(path))
    assert [d.code for d in refusal(pystage.compile(module.program), 1.0)] == ["PS103"]


def test_source_of_a_session_is_found_through_linecache():
    text = "def typed(x):\n    return x * 5\n"
    linecache.cache["<session-1>"] = (len(text), None, text.splitlines(True), "<session-1>")
    namespace: dict = {}
    exec(compile(text, "<session-1>", "exec"), namespace)
    try:
        check(namespace["typed"], 3.0)
    finally:
        del linecache.cache["<session-1>"]


# ---------------------------------------------------------------- shapes and types, deep in a callee


def innermost(a, b):
    return a + b  # shapes meet here


def middle(a, b):
    return innermost(a, b) + 1


def outermost(a, b):
    return middle(a, b) * 2


def test_shape_mismatch_deep_in_a_callee():
    staged = pystage.compile(outermost)
    diagnostics = refusal(staged, np.ones((2, 3)), np.ones((4, 5)))
    assert diagnostics[0].code in ("PS201", "PS206")
    assert diagnostics[0].span.line == line_of(innermost, "# shapes meet here")
    called = [note.span.line for note in diagnostics[0].notes if note.span is not None]
    assert {line_of(middle, "innermost(a, b)"), line_of(outermost, "middle(a, b)")} <= set(called)
    check(outermost, np.ones((3,)), np.ones((3,)), staged=staged)


def test_shapes_that_do_not_broadcast():
    def program(x, y):
        z = x * 2
        return z + y  # sum

    assert_refused_at(program, (np.ones(3), np.ones(4)), "PS201", "# sum")


def test_operations_that_do_not_exist():
    def program(x, name):
        return x + name  # sum

    assert_refused_at(program, (np.ones(3), "text"), "PS202", "# sum")


def test_attributes_that_do_not_exist():
    def program(x):
        return x.nothing

    check(program, np.ones(3), raises=AttributeError)


def test_unknown_keyword_arguments_are_refused():
    def program(x):
        return np.ones(3, like=x)  # call

    assert_refused_at(program, (np.ones(3),), "PS604", "# call")


def test_independent_problems_are_reported_together():
    def program(x, y):
        a = x + y  # first
        b = np.logspace(0, 1, int(x[0]))  # second
        return a, b

    diagnostics = refusal(pystage.compile(program), np.ones(3), np.ones(4))
    lines = [d.span.line for d in diagnostics]
    assert lines == [line_of(program, "# first"), line_of(program, "# second")]


def test_names_without_a_value():
    def program(x):
        return x + undefined_name  # noqa: F821

    check(program, 1.0, raises=NameError)


# ---------------------------------------------------------------- loops and recursion


def test_a_loop_whose_type_never_settles():
    def program(x):
        while x.sum() < 100.0:
            x = x[:, None] * 2
        return x

    diagnostics = refusal(pystage.compile(program), np.ones(2))
    assert diagnostics[0].code in ("PS301", "PS305")
    assert line_of(program, "while") <= diagnostics[0].span.line <= line_of(program, "return x")


def test_a_loop_whose_structure_never_settles():
    def program(x):
        nested = ()
        while x > 1.0:
            nested = (nested, x)
            x = x / 2
        return nested

    assert refusal(pystage.compile(program), 10.0)[0].code in ("PS301", "PS305")


def test_recursion_without_end():
    def program(x, n):
        return x if n < 0.0 else program(x, n - 1.0)

    def forever(x):
        return forever(x + 1)

    assert refusal(pystage.compile(program), 1.0, 5.0)[0].code == "PS602"
    assert refusal(pystage.compile(forever), 1.0)[0].code == "PS602"


def test_a_million_trips_that_would_have_to_unroll():
    def program(x):
        items = ()
        for i in range(1_000_000):
            items = (items, x + i)
        return items[1]

    assert refusal(pystage.compile(program), 1.0)[0].code in ("PS301", "PS305", "PS402")


def test_a_million_trips_over_a_shape():
    def program(x):
        total = 0.0
        for i in range(1_000_000):
            total = total + np.logspace(0, x[0], i + 1).sum()
        return total

    assert refusal(pystage.compile(program), np.ones(3))[0].code in ("PS401", "PS402")


# ---------------------------------------------------------------- values that must be known


def test_a_shape_that_depends_on_elements():
    def program(x):
        return np.zeros(int(x.sum()))

    check(program, np.ones(3))
    check(program, -np.ones(3), raises=ValueError)


def test_variables_of_pystage_itself_are_not_named():
    def program(x):
        return "ab" * int(math.fsum(x))

    (diagnostic,) = refusal(pystage.compile(program), np.ones(3))
    assert [note.text for note in diagnostic.notes if "depends on the" in note.text] == [
        "it depends on the values of `x`"
    ]


def test_a_transform_whose_length_depends_on_elements():
    def program(x):
        return np.fft.fft(x, int(x.sum()))

    check(program, np.ones(3))
    check(program, -np.ones(3), raises=ValueError)


def test_a_mask_that_is_kept():
    def program(x):
        y = x[x > 0]
        return y * 2

    check(program, np.array([1.0, -1.0, 2.0]))
    check(program, -np.ones(3))


def test_a_name_that_only_one_branch_assigns():
    def program(x):
        if x > 0:
            y = x
        return y

    check(program, 1.0)
    check(program, -1.0, raises=UnboundLocalError)


def test_branches_of_different_kinds():
    def program(x):
        y = x * 2 if x > 0 else "text"
        return y + 1

    check(program, 1.0)
    check(program, -1.0, raises=TypeError)


# ---------------------------------------------------------------- afterwards


def test_a_refusal_leaves_no_trace():
    def program(x, y):
        x[0] = 5.0
        return x + y

    staged = pystage.compile(program)
    x = np.ones(3)
    for _ in range(2):
        refusal(staged, x, np.ones(4))
        assert x.tolist() == [1.0, 1.0, 1.0]
        check(program, np.ones(3), np.ones(3), staged=staged)


def test_the_same_refusal_twice():
    def program(x):
        return x + "a"

    staged = pystage.compile(program)
    first, second = refusal(staged, np.ones(2)), refusal(staged, np.ones(2))
    assert [d.code for d in first] == [d.code for d in second]


def test_the_error_shows_the_line_and_a_help():
    def program(x):
        y = x + object()  # wrong
        return y

    with pytest.raises(pystage.StagingError) as caught:
        pystage.compile(program)(1.0)
    text = str(caught.value)
    assert "y = x + object()" in text
    assert "^" in text
    assert "help" in text
    assert f"{__file__}:{line_of(program, '# wrong')}" in text or "test_bad_input.py" in text


def test_wrong_options_are_refused():
    with pytest.raises((TypeError, ValueError)):
        pystage.compile(two, fallback="sometimes")
    with pytest.raises((TypeError, ValueError)):
        pystage.compile(two, unknown=True)
    with pytest.raises((TypeError, ValueError, pystage.StagingError)):
        pystage.compile(3.0)
    with pytest.raises(ValueError):
        pystage.spec("f99[3")
