"""`pystage explain --run`: what a program did, as it is reported at its end."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from pystage.cli.scripts import script_of
from pystage.cli.targets import UsageError
from tests.cli.running import ROOT, pystage

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


def run(tmp_path: Path, *arguments: str, before: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    (tmp_path / "script.py").write_text(SCRIPT)
    return pystage("explain", *before, "--run", "script.py", *arguments, cwd=tmp_path)


def written(tmp_path: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What the report of a script says."""
    (tmp_path / "script.py").write_text(textwrap.dedent(text))
    return pystage("explain", "--run", "script.py", *arguments, cwd=tmp_path)


def test_the_report(tmp_path: Path) -> None:
    done = run(tmp_path, "a", "--b")
    assert done.returncode == 3
    assert done.stdout == "arguments ['a', '--b']\n"
    report = done.stderr
    assert "f was compiled 4 times, again because of" in report
    assert "x: f64[3] (ndarray) → f64[4] (ndarray)" in report
    assert "n: 2 → 3 (the shape of zeros needs it, script.py:15)" in report
    assert "scale: 2 → 5" in report
    assert "g ran as Python 2 times" in report and "PS601" in report and "script.py:20" in report


def test_of_many_changes_the_first_are_told(tmp_path: Path) -> None:
    report = written(
        tmp_path,
        """
        import numpy as np
        import pystage, time, warnings

        warnings.simplefilter("ignore")

        @pystage.compile
        def f(x, tour):
            return [x[:k] for k in tour]

        @pystage.compile
        def g(x):
            return x + time.time()

        f(np.ones(100), list(range(1, 9)))
        f(np.ones(100), list(range(2, 10)))
        g(np.ones(3))
        """,
    ).stderr
    lines = " ".join(report.split())
    assert "tour[0]: 1 → 2 (" in lines and "tour[2]: 3 → 4 (" in lines and "; 5 more" in lines
    assert "tour[3]" not in lines
    assert "g ran as Python 1 time," in lines and "1 call," in lines


def test_a_script_that_raises(tmp_path: Path) -> None:
    done = run(tmp_path, "raise")
    assert done.returncode == 1
    assert "ValueError: at the end" in done.stderr and "script.py" in done.stderr
    assert "pystage/cli" not in done.stderr and "runpy" not in done.stderr
    assert "g ran as Python" in done.stderr


NOTHING_TO_RUN = {
    ("no.py",): "there is no file no.py",
    ("-m", "no_such_module"): "there is no module no_such_module",
    ("-m", "json"): "the package json has no `__main__`",
    ("-m", "sys"): "sys is not written in Python",
    ("-m",): "name a script, a folder, or a module after -m (--run)",
    (): "name a script, a folder, or a module after -m (--run)",
    (".",): "there is no `__main__.py` in .",
}


@pytest.mark.parametrize("words", NOTHING_TO_RUN)
def test_what_cannot_be_run(words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    with pytest.raises(UsageError) as error:
        script_of(words)
    assert str(error.value) == NOTHING_TO_RUN[words]


def test_the_report_as_data(tmp_path: Path) -> None:
    done = run(tmp_path, "a", before=["--json", "-o", "report.json"])
    assert done.returncode == 3 and done.stderr == ""
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["script"], report["arguments"]) == ("script.py", ["a"])
    f, g, part = report["functions"]
    assert (part["name"], part["calls"], part["programs"]) == ("g.region_1", 2, 0)
    assert (f["name"], f["calls"], f["programs"], f["place"]["line"]) == ("f", 4, 4, 11)
    assert f["compiled"][0]["changes"] == []
    (change,) = f["compiled"][2]["changes"]
    assert (change["what"], change["old"], change["new"], change["place"]["line"]) == ("n", "2", "3", 15)
    assert {"inference", "xla", "rest", "python", "plain"} == f["seconds"].keys()
    (fallen,) = g["fallbacks"]
    assert (fallen["code"], fallen["calls"], fallen["place"]["line"]) == ("PS601", 2, 20)
    assert report["lazy"]["programs"] == 0


def test_an_interrupt_shows_the_line_of_the_script(tmp_path: Path) -> None:
    text = """
    import os, signal, warnings
    import numpy as np
    import pystage
    warnings.simplefilter("ignore")

    @pystage.compile
    def f(x):
        os.kill(os.getpid(), signal.SIGINT)
        return x

    f(np.ones(3))
    """
    done = written(tmp_path, text)
    assert done.returncode == 130
    trace, report = done.stderr.split("\n\n", 1)
    assert trace.startswith("Traceback (most recent call last):\n") and trace.endswith("\nKeyboardInterrupt")
    assert f'File "{tmp_path}/script.py", line 12, in <module>\n    f(np.ones(3))' in trace
    assert f"{ROOT}/pystage" not in trace
    assert "f ran as Python 1 time," in report


def test_the_report_comes_last(tmp_path: Path) -> None:
    text = """
    import atexit, sys, threading, time
    import numpy as np
    import pystage

    @pystage.compile
    def f(x):
        return x + 1

    def late():
        time.sleep(0.2)
        f(np.ones(3))

    threading.Thread(target=late).start()
    atexit.register(lambda: print(sys.modules["__main__"].f(np.ones(3))[0], sys.argv, file=sys.stderr))
    """
    done = written(tmp_path, text, "a")
    assert done.returncode == 0
    assert done.stderr.splitlines()[0] == "2.0 ['script.py', 'a']"
    assert "f  script.py:7      2         1" in done.stderr


def test_what_a_script_raises_is_told_as_python_tells_it(tmp_path: Path) -> None:
    text = """
    import sys
    sys.excepthook = lambda kind, error, frames: print("hook", kind.__name__, error.__context__, file=sys.stderr)
    try:
        1 / 0
    except ZeroDivisionError:
        raise ExceptionGroup("two", [ValueError()])
    """
    done = written(tmp_path, text)
    assert done.returncode == 1
    assert done.stderr.startswith("hook ExceptionGroup division by zero\n")
    assert written(tmp_path, "import sys\nsys.exit(2.5)").stderr.startswith("2.5\n")
    assert written(tmp_path, "def f(:").stderr.startswith(f'  File "{tmp_path}/script.py", line 1\n')


def test_folders_archives_and_modules(tmp_path: Path) -> None:
    main = "import sys\nimport beside\nprint(sys.argv, __name__, __package__, __file__ is not None)\n"
    package = tmp_path / "folder"
    package.mkdir()
    for name, text in (
        ("__main__", main),
        ("beside", ""),
        ("__init__", ""),
        ("inner", main.replace("beside", "folder")),
    ):
        (package / f"{name}.py").write_text(text)
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.write(package / "__main__.py", "__main__.py")
        archive.write(package / "beside.py", "beside.py")
    for words in (
        ["folder", "-x"],
        ["archive.zip"],
        ["-m", "folder.inner", "-m"],
        ["./folder/__main__.py", "a"],
    ):
        done = pystage("explain", "--run", *words, cwd=tmp_path)
        plain = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert (done.returncode, done.stdout) == (0, plain.stdout)
        assert "no compiled function was called" in done.stderr


def test_what_to_compile(tmp_path: Path) -> None:
    text = """
    import numpy as np
    from numpy import sin

    def first(x): return np.cos(x)
    def second(x): return sin(x)
    def other(x): return x
    def no_parameter(): return np.ones(3)
    """
    done = written(tmp_path, text)
    advice = "decorate functions over arrays with `@pystage.compile`, such as `first` (script.py:5), `second` (script.py:6)"
    assert done.stderr.splitlines()[-2:] == ["no compiled function was called", advice]
    assert (
        "decorate"
        not in written(tmp_path, f"{text}\n    import pystage\n    f = pystage.compile(first)").stderr
    )
