"""What a residual program says of itself, and when a region is compiled."""

import sys
import time
import warnings

import numpy as np
import pystage
import pytest
from pystage.offload import Offload, policy
from pystage.offload.policy import Trial, Way

from offload.running import compile_everything

X = np.arange(4.0)


def timed(x, n):
    started = time.time()
    for i in range(n):
        x[i] += started
        if x[i] < 0.0:
            return i
    return -1


def test_the_residual_program_reads_as_the_function():
    offload = Offload(timed, pystage.compile)
    assert "not tried yet" in str(offload.residual(X, 4))
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
    offload = Offload(timed, pystage.compile)
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


def no_loop(x):
    time.time()
    return x * 2.0 + 1.0


@pytest.mark.parametrize("size, staged", [(10, False), (2000, True)])
def test_without_a_loop_only_large_arrays_are_worth_a_call(size, staged):
    offload = Offload(no_loop, pystage.compile)
    np.testing.assert_array_equal(offload(np.ones(size)), np.full(size, 3.0))
    assert (", staged" in str(offload.residual(np.ones(size)))) is staged


def test_what_is_slower_staged_goes_back_to_python():
    trial = Trial(worth=True, eager=True)
    for _ in range(policy.RUNS + 1):
        assert trial.way() is Way.STAGED
        trial.note(Way.STAGED, 2e-4)
    for _ in range(policy.PLAIN_RUNS):
        assert trial.way() is Way.PLAIN
        trial.note(Way.PLAIN, 1e-4)
    assert trial.settled is Way.PLAIN


def test_a_region_in_a_loop_of_python_is_compiled_once_it_has_taken_long():
    trial = Trial(worth=True, eager=False)
    while trial.way() is Way.PLAIN:
        trial.note(Way.PLAIN, 5e-3)
    assert trial.settled is None
    assert trial._plain_runs == policy.PATIENCE / 5e-3


def keys(x, names):
    total = 0.0
    for name in names:
        time.time()
        for v in x:
            total += v * len(name)
    return total


def test_a_region_that_is_specialised_anew_goes_back_to_python(monkeypatch):
    compile_everything(monkeypatch)
    offload = Offload(keys, pystage.compile)
    names = ["a" * n for n in range(20)]
    assert offload(X, names) == keys(X, names)
    assert "stays in Python" in str(offload.residual(X, names))


def prints_and_overflows(x, n):
    time.time()
    for i in range(2):
        print(i)
        x[i] += 1.0
        n = n * n
    return n


def test_what_was_printed_is_not_printed_again(capsys, monkeypatch):
    compile_everything(monkeypatch)
    offload = Offload(prints_and_overflows, pystage.compile)
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


def test_what_is_refused_while_it_runs_has_changed_nothing(monkeypatch):
    compile_everything(monkeypatch)
    offload = Offload(overflows, pystage.compile)
    x, expected = X.copy(), X.copy()
    assert offload(x, 2**40) == overflows(expected, 2**40)
    np.testing.assert_array_equal(x, expected)


def test_a_function_without_source_runs_plain():
    made = eval("lambda x: [float(str(v)) for v in x]")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Offload(made, pystage.compile)([1.0]) == [1.0]


def test_a_region_that_is_compiled_anew_for_each_trip_goes_back_within_the_call(monkeypatch):
    monkeypatch.setattr(policy, "PATIENCE", 0.0)

    def grow(x, n):
        kept = []
        for i in range(n):
            s = 0.0
            for v in x:
                s += v * len(kept)
            for pair in kept:
                s += pair[1]
            time.time()
            kept.append((i, s))
        return kept

    offload = Offload(grow, pystage.compile)
    x = np.ones(5)
    assert offload(x, 30) == grow(x, 30)
    assert str(offload.residual(x, 30)).count("grow.region_1(") <= policy.ANEW
