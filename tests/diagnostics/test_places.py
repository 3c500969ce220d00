"""Where a refusal is told, and once: the user's line first, a library's frames in one note, one cause in one report."""

from __future__ import annotations

import json
import logging
import os
import random
import statistics
import traceback

import numpy as np
import pytest

import pystage
from pystage.compiler import policy
from pystage.compiler.diagnostics.diagnostic import Diagnostic
from pystage.compiler.library.rules.foreign import TABLE, advice_for

from .goldens import load


def refused(function, *args) -> tuple[Diagnostic, ...]:
    with pytest.raises(pystage.StagingError) as error:
        pystage.compile(function, fallback="error")(*args)
    return error.value.diagnostics


def of_a_library(x):
    return x + statistics.mean([x, x])


def logs(x):
    logging.getLogger("pystage.tests").warning("x is %s", x)
    return x


@pytest.mark.parametrize("function", [of_a_library, logs])
def test_the_line_of_the_user_comes_first_and_none_of_pythons_library_is_told(function):
    (found,) = refused(function, 1.0)
    assert found.span is not None and found.span.file == __file__
    assert all(note.span is None or note.span.file == __file__ for note in found.notes)
    assert not [note for note in found.notes if ".py:" in note.text]


def test_a_function_of_the_user_that_a_library_calls_is_the_place():
    def squared(x):
        return x * random.random()

    def f(x):
        return sum(map(squared, [x, x]))

    (found,) = refused(f, 1.0)
    assert found.span is not None and found.span.file == __file__
    assert found.span.line == squared.__code__.co_firstlineno + 1


def reads(x):
    with open("somewhere") as file:
        text = file.read()
        count = len(text)
    return x * count, text


def environment(x):
    return x * float(os.environ["SCALE"])


@pytest.mark.parametrize("function", [reads, environment, lambda x: (x, json.load(x))])
def test_what_follows_from_an_error_is_no_error(function):
    assert len(refused(function, 1.0)) == 1


def scaled(x):
    return x * random.random()


def often(x):
    a = scaled(x)
    b = scaled(x + 1.0)
    c = scaled(x + 2.0)
    d = scaled(x + 3.0)
    e = scaled(x + 4.0)
    return a, b, c, d, e, scaled(x)


def test_a_line_that_many_calls_lead_to_is_one_problem():
    (found,) = refused(often, 1.0)
    calls = [note for note in found.notes if note.text == "scaled is called here"]
    assert len(calls) == 1
    first = often.__code__.co_firstlineno + 2
    places = [f"{os.path.basename(__file__)}:{first + i}" for i in range(3)]
    assert found.notes[-1].text == f"it is also reached from {', '.join(places)} and 2 more places"


def test_the_advice_is_that_of_the_longest_name():
    assert advice_for(["random.random"]) is TABLE["random"]
    assert advice_for(["random.choice"]) is TABLE["random.choice"]
    assert advice_for(["posixpath.exists"]) is TABLE["os.path"]
    assert advice_for(["nothing", "time.time"]) is TABLE["time"]
    assert advice_for(["timely.time"]) is None


@pytest.mark.parametrize("name", TABLE)
def test_each_row_says_why_and_what_to_do(name):
    advice = TABLE[name]
    for text in advice[:2]:
        assert text and text[0] != " " and not text.endswith(".")
        assert text.count("`") % 2 == 0


class Model:
    @pystage.compile(fallback="error")
    def method(self, x):
        return np.load(x)


def plain(x):
    return np.load(x)


compiled = pystage.compile(plain, fallback="error")
X = np.ones(3)
ENTRIES = {
    "call": lambda: compiled(X),
    "method": lambda: Model().method(X),
    "lower": lambda: compiled.lower(X),
    "lower of a method": lambda: Model().method.lower(X),
    "grad": lambda: pystage.grad(plain)(X),
    "value_and_grad": lambda: pystage.value_and_grad(plain)(X),
    "vmap": lambda: pystage.vmap(plain)(X),
    "jvp": lambda: pystage.jvp(plain, [X], [X]),
    "vjp": lambda: pystage.vjp(plain, X),
    "code_lowered": lambda: pystage.code_lowered(len),
    "code_typed": lambda: pystage.code_typed(plain, X),
    "code_hlo": lambda: pystage.code_hlo(plain, X),
    "argument": lambda: compiled({1}),
}


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("full", [False, True])
def test_the_traceback_ends_at_the_call_of_the_user(name, full, monkeypatch):
    if full:
        monkeypatch.setenv("PYSTAGE_TRACEBACK", "full")
    with pytest.raises(pystage.StagingError) as error:
        ENTRIES[name]()
    files = {frame.filename for frame in traceback.extract_tb(error.value.__traceback__)}
    assert (files != {__file__}) is full


def test_the_traceback_is_as_short_when_the_call_fails_again():
    for _ in range(3):
        with pytest.raises(pystage.StagingError) as error:
            compiled(X)
        assert len(traceback.extract_tb(error.value.__traceback__)) == 1


def raising(x):
    if x[0] > 0.0:
        raise ValueError("positive")
    return x


staged_raising = pystage.compile(raising, fallback="error")
RAISING = {
    "call": lambda: staged_raising(X),
    "compiled": lambda: staged_raising.lower(X).compile()(X),
    "grad": lambda: pystage.grad(lambda x: raising(x).sum())(X),
}


@pytest.mark.parametrize("name", RAISING)
@pytest.mark.parametrize("full", [False, True])
def test_what_the_program_raises_has_the_lines_of_the_user(name, full, monkeypatch):
    if full:
        monkeypatch.setenv("PYSTAGE_TRACEBACK", "full")
    with pytest.raises(ValueError, match="positive") as error:
        RAISING[name]()
    frames = traceback.extract_tb(error.value.__traceback__)
    assert frames[-1].name == "raising" and frames[-1].line == 'raise ValueError("positive")'
    assert ({frame.filename for frame in frames} != {__file__}) is full


def test_a_module_of_the_user_may_have_the_name_of_a_library(tmp_path):
    path = tmp_path / "random.py"
    path.write_text("def helper(x):\n    return x + 1.0\n\n\ndef f(x):\n    return helper(x) * 2.0\n")
    module = load(path)
    assert module.f.__module__ == "random"
    assert pystage.compile(module.f, fallback="error")(1.0) == 4.0


def test_a_package_that_is_installed_is_the_users_where_the_program_is_its_own(tmp_path, monkeypatch):
    """The place is in the package's source then; called from elsewhere, the caller's line comes first."""
    monkeypatch.setattr(policy, "_installed", lambda: (f"{tmp_path}{os.sep}",))
    policy.package_of_file.cache_clear()
    path = tmp_path / "installed.py"
    path.write_text(
        "import time\n\n\ndef inner(x):\n    return x * time.time()\n\n\ndef f(x):\n    return inner(x)\n"
    )
    module = load(path)

    def caller(x):
        return module.f(x)

    try:
        (own,) = refused(module.f, 1.0)
        (other,) = refused(caller, 1.0)
    finally:
        monkeypatch.undo()
        policy.package_of_file.cache_clear()
    assert own.span is not None and own.span.line == 5
    assert other.span is not None and other.span.file == __file__
    assert "this is in installed.py:5 (inner), to which `module.f` leads" in [n.text for n in other.notes]
