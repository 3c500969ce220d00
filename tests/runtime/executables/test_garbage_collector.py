"""The garbage collector waits while a program is made, and is afterwards as the user had it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import pystage
from pystage.runtime.executables.garbage_collector import waiting


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_overlapping_blocks_end_with_the_last() -> None:
    opened, done = threading.Event(), threading.Event()

    def other() -> None:
        with waiting:
            opened.set()
            done.wait(10)

    thread = threading.Thread(target=other)
    with waiting:
        thread.start()
        assert opened.wait(10)
    assert not gc.isenabled()
    done.set()
    thread.join()
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    pystage.compile(lambda x: x + 1.0).lower(np.ones(2))
    assert not gc.isenabled()


def test_it_collects_again_after_a_program_and_after_a_refusal() -> None:
    assert pystage.compile(lambda x: x + 1.0)(2.0) == 3.0
    assert gc.isenabled()
    with pytest.raises(pystage.StagingError):
        pystage.compile(lambda x: eval("x"), fallback="error")(2.0)
    assert gc.isenabled()
