"""`pystage explain --run`: what a program did, as it is reported at its end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys, time, warnings
import numpy as np
import pystage

warnings.simplefilter("ignore")
scale = 2


@pystage.compile
def f(x, n):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * scale
    return total + np.zeros(n).sum()


@pystage.compile
def g(x):
    started = time.time()
    return x + started


f(np.ones(3), 2)
f(np.ones(4), 2)
f(np.ones(4), 3)
scale = 5
f(np.ones(4), 3)
g(np.ones(10))
g(np.ones(10))
print("arguments", sys.argv[1:])
if "raise" in sys.argv:
    raise ValueError("at the end")
sys.exit(3)
"""


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "pystage", "explain", "--run", "script.py", *arguments]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)


def test_the_report(tmp_path: Path) -> None:
    done = run(tmp_path, "a", "--b")
    assert done.returncode == 3
    assert done.stdout == "arguments ['a', '--b']\n"
    report = done.stderr
    assert "f was compiled 4 times, again because of" in report
    assert "x: f64[3] (ndarray) → f64[4] (ndarray)" in report
    assert "n: 2 → 3 (the shape of zeros needs it, script.py:15)" in report.replace(f"{tmp_path}/", "")
    assert "scale: 2 → 5" in report
    assert "g ran as Python 2 times" in report and "PS601" in report and "script.py:20" in report


def test_a_script_that_raises(tmp_path: Path) -> None:
    done = run(tmp_path, "raise")
    assert done.returncode == 1
    assert "ValueError: at the end" in done.stderr and "script.py" in done.stderr
    assert "pystage/cli" not in done.stderr and "runpy" not in done.stderr
    assert "g ran as Python" in done.stderr


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pystage", "explain", "--run", "no.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr == "pystage: there is no file no.py\n"
