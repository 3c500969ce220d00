"""What a residual program says of itself, and when a region is compiled."""

import sys
import time
import warnings

import numpy as np
import pystage
import pytest
from pystage.offload import Offload, parts
from pystage.staging import compile_part

from offload.running import compiled_at_once

X = np.arange(4.0)


def timed(x, n):
    started = time.time()
    for i in range(n):
        x[i] += started
        if x[i] < 0.0:
            return i
    return -1


def test_the_residual_program_reads_as_the_function():
    offload = compiled_at_once(timed)
    assert "not compiled yet" in str(offload.residual(X, 4))
    assert offload(X.copy(), 4) == -1
    first = timed.__code__.co_firstlineno
    text, *regions = str(offload.residual(X, 4)).split("\n\n")
    assert text.splitlines() == [
        "def timed(x, n):",
        "    # stays: PS601: the call to time.time cannot be staged: a compiled program computes from its arguments "
        "alone, and sees no clock",
        "    started = time.time()",
        f"    # lines {first + 2} to {first + 6}",
        "    return region_1(n, started, x)",
    ]
    lines = f"lines {first + 2} to {first + 6}"
    assert regions[0].startswith(f"region_1(n, started, x) -> what the function returns: {lines}, staged\n")


def test_the_residual_program_runs_at_the_lines_of_the_user():
    offload = compiled_at_once(timed)
    offload(X.copy(), 4)
    seen = []

    def trace(frame, event, arg):
        if frame.f_code.co_filename != __file__ or frame.f_code.co_name != "timed":
            return None
        seen.append(frame.f_lineno - timed.__code__.co_firstlineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        offload(X.copy(), 4)
    finally:
        sys.settrace(before)
    assert set(seen) >= {1, 2}


def cut(function, *args):
    """The residual program of a function of which it is known that it cannot be staged as a whole."""
    with pytest.raises(pystage.StagingError) as refused:
        pystage.compile(function, fallback="error")(*args)
    return Offload(function, compile_part, refused.value.diagnostics)


def squares(x, n):
    time.time()
    total = 0.0
    for i in range(n):
        total += x[i % 4] * x[i % 4]
    return total


@pytest.mark.parametrize("trips, staged", [(10, False), (100_000_000, True)])
def test_a_region_is_compiled_at_once_where_it_runs_long(trips, staged):
    offload = cut(squares, X, trips)
    assert offload(X, trips) > 0.0
    assert (", staged" in str(offload.residual(X, trips))) is staged


def keys(x, names):
    total = 0.0
    for name in names:
        time.time()
        for v in x:
            total += v * len(name)
    return total


def test_a_region_whose_runs_are_short_becomes_a_part_of_the_residual_program():
    names = ["a"] * (3 * parts.TRIALS)
    offload = cut(keys, X, names)
    for _ in range(2):
        assert offload(X, names) == keys(X, names)
    assert "region" not in str(offload.residual(X, names))
    (cutting,) = offload._function._cuttings.values()
    assert cutting.version < 10, "the residual program is made anew again and again"


def prints_and_overflows(x, n):
    time.time()
    for i in range(2):
        print(i)
        x[i] += 1.0
        n = n * n
    return n


def test_what_was_printed_is_not_printed_again(capsys):
    offload = compiled_at_once(prints_and_overflows)
    assert offload(X.copy(), 2) == 16
    capsys.readouterr()
    x = X.copy()
    with pytest.raises(pystage.StagingError, match="PS810"):
        offload(x, 2**40)
    np.testing.assert_array_equal(x, X)


def overflows(x, n):
    time.time()
    for i in range(2):
        x[i] += 1.0
        n = n * n
    return n


def test_what_is_refused_while_it_runs_has_changed_nothing():
    offload = compiled_at_once(overflows)
    x, expected = X.copy(), X.copy()
    assert offload(x, 2**40) == overflows(expected, 2**40)
    np.testing.assert_array_equal(x, expected)


def test_a_function_without_source_runs_plain():
    made = eval("lambda x: [float(str(v)) for v in x]")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Offload(made, compile_part)([1.0]) == [1.0]
