"""What a rewritten test module calls in place of calls, operators and subscripts: the plain one, watched by a probe.

`Probe` holds what is known of the test that runs. Without one, as while a module is imported, all is plain.
"""

from __future__ import annotations

import operator
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial, update_wrapper
from typing import Any

import numpy as np
import pytest
from checking import Run

from outside.comparing import Finding, Runner, Write
from outside.copies import copies_of
from outside.programs import SETTINGS, OutOfScope, TooLarge, Writer, check_result, is_known

CALLS = 30
"""How many calls of one test are staged."""
SECONDS = 6.0
"""How long the staged calls of one test may take before the others run plain."""

CALLING = frozenset(
    {
        np.testing.assert_raises,
        np.testing.assert_raises_regex,
        np.testing.assert_warns,
        np.testing.assert_no_warnings,
        pytest.raises,
        pytest.warns,
    }
)
"""Functions that call the function that they are given."""
_ARRAYS = (np.ndarray, np.generic)


@dataclass
class Probe:
    """What the calls of a test have shown so far."""

    runner: Runner
    findings: list[Finding] = field(default_factory=list)
    outside: Counter[str] = field(default_factory=Counter)
    """Kinds of arguments and results that are out of scope."""
    spent: float = 0.0

    def run(self, plain: Callable[[], Any], write: Write) -> Any:
        """The plain run's result, or its exception, after the comparison."""
        if len(self.findings) >= CALLS or self.spent > SECONDS:
            return plain()
        try:
            programs = self.runner.candidates(write)
        except OutOfScope as reason:
            self.outside[str(reason)] += 1
            return plain()
        except TooLarge:
            return plain()
        given = [copies_of(program.leaves) for program in programs]
        seen = Run(tuple(programs[0].leaves), {})
        try:
            seen.result = plain()
        except Exception as error:
            seen.error = error
        self._compare(programs, given, seen)
        if seen.error is not None:
            raise seen.error
        return seen.result

    def _compare(self, programs: list[Any], given: list[list[Any]], seen: Run) -> None:
        try:
            check_result(seen.result)
        except OutOfScope as reason:
            self.outside[str(reason)] += 1
            return
        except TooLarge:
            return
        began = time.perf_counter()
        self.findings.append(self.runner.compare(programs, given, seen))
        self.spent += time.perf_counter() - began


class _Current:
    """The probe of the test that runs."""

    probe: Probe | None = None


current = _Current()


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)`."""
    probe = current.probe
    if probe is None:
        return function(*args, **kwargs)
    if _is_calling(function):
        return function(*[_called(arg) for arg in args], **kwargs)
    if not is_known(function) or (probe.runner.lazily and function in SETTINGS):
        return function(*args, **kwargs)
    return _watched(
        probe, partial(function, *args, **kwargs), lambda writer: writer.call(function, args, kwargs)
    )


def _called(function: Any) -> Any:
    """A known function that calls itself as a rewritten module does; anything else is as it is."""
    if not callable(function) or isinstance(function, type) or not is_known(function):
        return function
    return update_wrapper(partial(call, function), function)


def _is_calling(function: Any) -> bool:
    try:
        return function in CALLING
    except TypeError:
        return False


def operate(name: str, *operands: Any) -> Any:
    """An operator, by its name in `operator`."""
    plain = getattr(operator, name)
    probe = current.probe
    if probe is None or not any(isinstance(operand, _ARRAYS) for operand in operands):
        return plain(*operands)
    return _watched(probe, partial(plain, *operands), lambda writer: writer.operate(name, operands))


def item(array: Any, index: Any) -> Any:
    """`array[index]`."""
    probe = current.probe
    if probe is None or not isinstance(array, _ARRAYS):
        return array[index]
    return _watched(probe, lambda: array[index], lambda writer: writer.item(array, index))


def store(value: Any, array: Any, index: Any) -> None:
    """`array[index] = value`."""

    def plain() -> None:
        array[index] = value

    probe = current.probe
    if probe is None or not isinstance(array, np.ndarray):
        plain()
        return
    _watched(probe, plain, lambda writer: writer.store(array, index, value))


def store_in_place(name: str, array: Any, index: Any, value: Any) -> None:
    """`array[index] += value`, or with another operator, by its name in `operator`."""
    in_place = getattr(operator, name)

    def plain() -> None:
        array[index] = in_place(array[index], value)

    probe = current.probe
    if probe is None or not isinstance(array, np.ndarray):
        plain()
        return
    from_name = partial(Writer.store_in_place, name=name, array=array, index=index, value=value)
    _watched(probe, plain, from_name)


def attribute(value: Any, name: str) -> Any:
    """An attribute of an array that is a view of it."""
    probe = current.probe
    if probe is None or not isinstance(value, _ARRAYS):
        return getattr(value, name)
    return _watched(probe, partial(getattr, value, name), lambda writer: writer.attribute(value, name))


def _watched(probe: Probe, plain: Callable[[], Any], write: Write) -> Any:
    """A call that is watched; those inside of it are not."""
    current.probe = None
    try:
        return probe.run(plain, write)
    finally:
        current.probe = probe
