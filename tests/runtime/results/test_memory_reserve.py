"""Memory of large temporaries stays in the process, unless the user wants otherwise."""

import ctypes
import os
import subprocess
import sys

import pytest

import pystage

glibc = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"),
    reason="another C library",
)

PROGRAM = """
import resource
import numpy as np
import pystage

def f(a, b, x):
    return 1.5 * a @ x + 1.2 * b @ x

def g(a, b):
    return a + b

{before}
a = b = np.ones(({n}, {n}))
x = np.ones({n})
f, g = pystage.compile(f), pystage.compile(g)
for call in (lambda: f(a, b, x), lambda: g(a, b)):
    least = 1 << 30
    for _ in range(8):
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        call()
        least = min(least, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults)
    print(least)
"""


def faults(tmp_path, n, before="", **environment):
    """The least page faults of a call with two temporaries, and with a result, of n rows of n float64."""
    others = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "GLIBC_TUNABLES"))}
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(n=n, before=before))
    run = subprocess.run(
        [sys.executable, path],
        env={**others, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(map(int, run.stdout.split()))


@glibc
@pytest.mark.parametrize("n", [1500, 3000])
def test_a_second_call_gets_no_new_pages(tmp_path, n):
    pages = n * n * 8 // 4096
    temporaries, results = faults(tmp_path, n)
    assert temporaries < pages / 10 and results < pages / 10


@glibc
def test_temporaries_stay_where_jax_ran_before(tmp_path):
    assert (
        faults(tmp_path, 1900, "import jax; jax.numpy.ones(3).block_until_ready()")[0]
        < 1900 * 1900 * 8 // 40960
    )


@glibc
@pytest.mark.parametrize(
    ("before", "environment"),
    [
        ("pystage.config.kept_memory = 0", {}),
        ("", {"MALLOC_TRIM_THRESHOLD_": "131072"}),
        ("", {"GLIBC_TUNABLES": "glibc.malloc.trim_threshold=131072"}),
    ],
)
def test_the_allocator_is_left_alone(tmp_path, before, environment):
    temporaries, _ = faults(tmp_path, 3000, before, **environment)
    assert temporaries > 2 * 3000 * 3000 * 8 // 4096


@glibc
def test_larger_pieces_go_back(tmp_path):
    assert faults(tmp_path, 3000, "pystage.config.kept_memory = 100 << 20")[0] > 3000 * 3000 * 8 // 4096


def test_the_setting(monkeypatch):
    monkeypatch.setattr(pystage.config, "_kept_memory", pystage.config.kept_memory)
    assert 0 <= pystage.config.kept_memory <= 1 << 30
    with pytest.raises(TypeError, match="kept_memory must be an int"):
        pystage.config.kept_memory = 1.5  # type: ignore[assignment]
    for wrong in (-1, 1 << 31):
        with pytest.raises(ValueError, match="kept_memory must be at least 0"):
            pystage.config.kept_memory = wrong
    pystage.config.kept_memory = 123
    assert pystage.config.kept_memory == 123
    assert "kept_memory=123" in repr(pystage.config)
