"""A reserve on the stack of frames: what is called with it gives its result, and raises, as anywhere."""

from __future__ import annotations

import sys

import pytest

from pystage.compiler.recursion import FRAMES, deep_recursion
from pystage.runtime.executables.stack import WORDS, with_stack_reserve


def test_results_and_exceptions_pass_through() -> None:
    def deep(n: int) -> int:
        return deep(n - 1) + 1 if n else 0

    assert with_stack_reserve(lambda: deep(500)) == 500
    with pytest.raises(ZeroDivisionError):
        with_stack_reserve(lambda: 1 // deep(0))


def test_its_frame_asks_for_a_chunk_of_its_own() -> None:
    assert with_stack_reserve.__code__.co_stacksize == WORDS


def test_the_recursion_limit_is_set_back_by_the_last_of_overlapping_compilations() -> None:
    before = sys.getrecursionlimit()
    first, second = deep_recursion(), deep_recursion()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert sys.getrecursionlimit() >= FRAMES
    second.__exit__(None, None, None)
    assert sys.getrecursionlimit() == before
