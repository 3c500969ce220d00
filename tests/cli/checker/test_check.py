"""`pystage check`: which functions it checks, where it places what it finds, and what it leaves out."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pystage.cli import main
from tests.diagnostics.goldens import GOLDENS, OF_CHECK

from .checking import Check

UNCHECKED = {
    "no annotation": ("@pystage.compile\ndef f(x, y): return x + y", "nothing says what the argument `x` is"),
    "one annotation": ('def f(x: "f32[n]", y): return x + y', "nothing says what the argument `y` is"),
    "no shape": (
        'def f(x: "f32[n]", y: np.ndarray): return x',
        "the argument `y`: `ndarray` says no shape and no element type",
    ),
    "an integer": (
        'def f(x: "f32[n, m]", axis: int): return x.sum(axis=axis)',
        "the value of `axis` must be known; give it a default",
    ),
    "an integer that is no size": (
        'def f(x: "f32[n, m]", k: int): return np.swapaxes(x, k, 0)',
        "the value of `k` must be known; give it a default",
    ),
    "a field": (
        '@pystage.compile\ndef f(x: Config): return x.n\nclass Inner: pass',
        "the argument `x`: the field `inner` of `Config`: `Inner` says no shape and no element type, "
        "and has no annotated fields",
    ),
    "an instance": (
        'class Model:\n    @pystage.compile\n    def f(self, x: "f32[n]"): return x',
        "the method needs an instance: `Model` says no shape and no element type, and has no annotated fields",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNCHECKED)
def test_what_is_not_checked(name: str, check: Check) -> None:
    program, why = UNCHECKED[name]
    before = (
        "from dataclasses import dataclass\nclass Inner: pass\n@dataclass\nclass Config:\n    inner: Inner\n"
    )
    result = check(before + program)
    assert result.status == 0
    assert result.err.splitlines()[0].endswith(f"f is not checked: {why}")
    assert result.last == "checked 0 functions in 1 file: 0 problems, 1 not checked"
    assert check(before + program, "--strict").status == 1


def test_what_nobody_asked_for_is_left_alone(check: Check) -> None:
    text = "def f(x: float, y: list): return x.nothing\ndef g(): return 1\nclass A: pass"
    result = check(text)
    assert result.last == "checked 0 functions in 0 files: 0 problems, 0 not checked"


def test_functions_that_jax_compiles(check: Check) -> None:
    text = """
    import functools
    from jax import jit as fast

    @jax.jit
    def f(x): return x

    class Model:
        @functools.partial(fast, static_argnums=0)
        def g(self, x):
            @jax.jit
            def inner(x): return x
            return inner(x)

    @jax.jit(donate_argnums=0)
    def ignored(x): return x  # pystage: ignore

    @pystage.compile
    def compiled(x: "f32[n]"): return x
    """
    others = {
        "plain": "import jax.numpy\n@jax.jit\ndef h(x): return x",
        "other": "from numba import jit\n@jit\ndef h(x): pass",
    }
    result = check(text, **others)
    why = "is not checked: it is compiled by `jax.jit`, not by pystage"
    assert result.err.splitlines()[:3] == [
        f"checked.py:10:1: f {why}", f"checked.py:14:5: Model.g {why}", f"plain.py:3:1: h {why}",
    ]  # fmt: skip
    assert result.last == "checked 1 function in 1 file: 0 problems, 3 not checked"
    assert check(text, "--strict").status == 1


def test_what_is_merely_not_compiled(check: Check) -> None:
    text = """
    import time
    def clock(x: "f32[n]"): return x * time.time()
    def clocks(x: "f32[n]"): return x * time.time() * time.time()
    def wrong(x: "f32[n]"): return x[:, 0] * time.time()
    def right(x: "f32[n]"): return x
    """
    result = check(text)
    assert (
        result.last
        == "checked 4 functions in 1 file: 3 problems, 2 functions merely not compiled, 0 not checked"
    )
    only = check(text, "--only", "types")
    assert (only.status, [found["code"] for found in only.found]) == (1, ["PS223"])
    assert only.last.endswith("1 file: 1 problem, 2 functions merely not compiled, 0 not checked")
    assert check(text[: text.index("def wrong")], "--only", "types").status == 0
    broken = check("", "--only", "types", broken="import pystage, no_module_")
    assert [found["code"] for found in broken.found] == ["PS122"]


def test_no_function_runs(check: Check) -> None:
    text = """
    from dataclasses import dataclass

    @dataclass
    class Layer:
        w: "f32[n]"
        def __new__(cls, *args): raise SystemExit("made")
        @pystage.compile
        def __call__(self, x: "f32[n]"): return np.sin(self.w * x)
        def loud(self, x: "f32[n]"): print("runs"); return x
    """
    result = check(text, format="text")
    assert result.status == 0
    assert result.out == "checked 2 functions in 1 file: 0 problems, 0 not checked\n"


def test_a_loop_over_a_symbol_is_inferred_for_few_trips(check: Check) -> None:
    text = """
    def f(x: "f32[batch, d]"):
        rows = {}
        for i in range(len(x)):
            rows[str(i)] = x[i] * i
        return rows
    """
    assert check(text).last == "checked 1 function in 1 file: 0 problems, 0 not checked"


def test_a_program_that_is_too_large(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pystage.config.program_limit", 0.01)
    text = """
    def f(x: "f32[n]"):
        out = {}
        for i in range(200):
            out[str(i)] = np.sin(x) * i
        return out
    """
    (found,) = check(text).found
    assert found["code"] == "PS404"


def test_problems_of_a_callee_are_told_once(check: Check) -> None:
    text = """
    from helpers import add

    @pystage.compile
    def f(x: "f32[n]", y: "f32[m]"): return add(x, y)

    @pystage.compile
    def g(x: "f32[n]", y: "f32[m]"): return add(y, x)
    """
    helpers = "def add(x, y):\n    return x + y\n"
    (found,) = check(text, helpers=helpers).found
    assert (found["file"], found["line"], found["column"], found["function"]) == ("helpers.py", 2, 12, "f")
    notes = {note["message"]: note.get("line") for note in found["notes"]}
    assert notes["add is called here"] == 9 and notes["also reached from `g`"] == 12


def test_places_are_under_the_paths(check: Check) -> None:
    text = """
    from helpers import add

    @pystage.compile
    def f(x: "f32[n]", y: "f32[m]"): return add(x, y)
    """
    helpers = "def add(x, y):\n    return x + y\n"
    (found,) = check(text, helpers=helpers, paths=("checked.py",)).found
    assert (found["file"], found["line"], found["column"]) == ("checked.py", 9, 41)
    assert found["notes"][0] == {
        "message": "it is found here",
        "file": "helpers.py",
        "line": 2,
        "column": 12,
        "end": {"line": 2, "column": 17},
    }


def test_functions_are_checked_where_they_are_defined(check: Check) -> None:
    text = "from helpers import bad, Model\nfast = pystage.compile(bad)\nagain = bad"
    helpers = """
    def bad(x: "f32[n]", y: "f32[m]"): return x + y
    alias = bad
    class Model:
        def f(self, x: "f32[n]"): return x
    """
    result = check(text, helpers=helpers)
    assert [(f["file"], f["function"]) for f in result.found] == [("helpers.py", "bad")]
    assert result.last == "checked 1 function in 1 file: 1 problem, 1 not checked"


IGNORED = {
    "line": "return x + y  # pystage: ignore[PS201]",
    "several": "return x + y  # pystage: ignore[PS301, PS201]",
    "all": "return x + y  # a reason  # pystage: ignore",
    "a longer statement": "return x + (\n        y  # pystage: ignore[PS201]\n    )",
}


@pytest.mark.parametrize("name", IGNORED)
def test_comments_ignore(name: str, check: Check) -> None:
    result = check(f'def f(x: "f32[n]", y: "f32[m]"):\n    {IGNORED[name]}\n')
    assert (result.status, result.found) == (0, [])


def test_comments_at_the_def_ignore(check: Check) -> None:
    text = 'def f(x: "f32[n]",\n      y: "f32[m]"):  # pystage: ignore[PS201]\n    return x + y\n'
    assert check(text).found == []
    assert check(text.replace("PS201", "PS202")).status == 1


def test_a_comment_ignores_that_a_function_is_not_checked(check: Check) -> None:
    text = "@pystage.compile\ndef f(x):  # pystage: ignore\n    return x\n"
    result = check(text, "--strict")
    assert (result.status, result.found) == (0, [])
    assert check(text.replace("ignore", "ignore[PS201]"), "--strict").status == 1


def test_proxies_are_asked_nothing(check: Check) -> None:
    text = """
    class Proxy:
        @property
        def __class__(self): raise RuntimeError("not bound")

    proxy = Proxy()

    def f(x: "f32[n]"): return x
    """
    assert check(text).status == 0


def test_a_comment_that_ignores_nothing_is_a_warning(check: Check) -> None:
    text = """
    def f(x: "f32[n]", y: "f32[m]"):
        text = "# pystage: ignore"
        z = x + y  # pystage: ignore[PS202]
        return x * 2  # pystage: ignore
    @pystage.compile
    def g(x):
        return x + 1  # pystage: ignore[PS201]
    """
    result = check(text)
    assert [(f["code"], f["severity"], f["line"]) for f in result.found] == [
        ("PS201", "error", 8),
        ("PS123", "warning", 8),
        ("PS123", "warning", 9),
    ]
    assert result.found[1]["message"] == "this comment ignores nothing: there is no PS202 here"
    only = check('def f(x: "f32[n]"): return x  # pystage: ignore')
    assert (only.status, [f["severity"] for f in only.found]) == (0, ["warning"])


BROKEN = {
    "no Python": ("import pystage\ndef f(:\n", "SyntaxError: invalid syntax", 2, 7),
    "an import": ("import pystage\n\nimport no_module_\n", "ModuleNotFoundError: No module named 'no_module_'", 3, 1),
    "raises": ("import pystage\ndef f():\n    return 1 / 0\n\nx = f()\n", "ZeroDivisionError: division by zero", 3, 5),
    "exits": ("import pystage, sys\nsys.exit('bye')\n", "SystemExit: bye", 2, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_does_not_import(name: str, check: Check) -> None:
    text, error, line, column = BROKEN[name]
    result = check('def f(x: "f32[n]"): return x[:, 0]', broken=text)
    assert result.status == 1
    first, second = result.found
    assert (first["code"], first["file"], first["line"], first["column"]) == (
        "PS122",
        "broken.py",
        line,
        column,
    )
    assert first["message"] == f"broken.py cannot be imported: {error}"
    assert first["notes"][0]["message"].endswith(error)
    assert "pystage/cli" not in first["notes"][0]["message"]
    assert second["file"] == "checked.py"


def test_folders_that_are_skipped(check: Check) -> None:
    bad = 'def f(x: "f32[n]"): return x[:, 0]\n'
    names = [
        ".hidden/a",
        "venv/a",
        "build/a",
        "node_modules/a",
        "x_pb2",
        "a/__main__",
        "setup",
        "package.egg-info/a",
    ]
    files = dict.fromkeys(names, bad) | {
        "own/pyvenv_module": "",
        "generated": "# @generated by a tool\n" + bad,
    }
    result = check("", **files)
    assert result.last == "checked 0 functions in 0 files: 0 problems, 0 not checked"


def test_modules_of_one_name_in_two_folders(check: Check) -> None:
    main_of = """
    import pystage
    from shared_name import size

    @pystage.compile
    def f(x: "f32[n]"): return x.reshape(size, -1)
    """
    files = {
        "a/main_": main_of,
        "b/main_": main_of,
        "a/shared_name": "size = 1\n",
        "b/shared_name": "size = 2\n",
    }
    (found,) = check("", **files).found
    assert found["file"] == "b/main_.py"


def test_sizes_of_dimensions_that_only_some_functions_have(check: Check) -> None:
    text = """
    class Layer:
        w: "f32[inner]"
        def f(self, x: "f32[n]") -> "f32[out]": return x
    def g(x: "f32[m]", k: int): return x.reshape(k, -1)
    def unchecked(y, x: "f32[rows]"): return x
    """
    sizes = [option for name in ("inner", "n", "out", "m", "k", "rows") for option in ("--dim", f"{name}=3")]
    assert check(text, *sizes).status == 0
    broken = check(text, "--dim", "other=3", broken="import pystage, no_module_")
    assert (broken.status, [found["code"] for found in broken.found]) == (1, ["PS122"])


def test_packages_and_modules_by_name(check: Check) -> None:
    files = {
        "pack_age/__init__": "",
        "pack_age/core": "import pystage\nfrom .shapes import two\n@pystage.compile\ndef f(x: 'f32[n]'): return two(x)\n",
        "pack_age/shapes": "def two(x: 'f32[n]') -> 'f32[2*n]':\n    return x.repeat(3)\n",
    }
    assert [f["file"] for f in check("", paths=("pack_age",), **files).found] == ["pack_age/shapes.py"]
    assert check("", paths=("pack_age.core",), **files).last.startswith(
        "checked 1 function in 1 file: 0 problems"
    )


def test_what_a_module_prints_is_not_among_the_findings(check: Check) -> None:
    result = check('print("hello")\ndef f(x: "f32[n]"): return x')
    assert (result.out, result.err.splitlines()[0]) == ("[]\n", "hello")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["no_such_folder/"], "there is no file or folder no_such_folder/"),
        (["no_module_"], "there is no file, folder or module no_module_"),
        (["empty"], "there is no Python file in empty"),
        (["empty", "--dim", "n=x"], "--dim n=x: a size is a number that is not negative"),
        (
            ["annotated.py", "--dim", "bach=3"],
            "--dim bach: no annotation has a dimension `bach`; there is `batch`, `n`, `k`",
        ),
    ],
)
def test_wrong_usage(
    arguments: list[str],
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "annotated.py").write_text("def f(x: 'f32[batch]', y, z: 'f32[2*n]', k: int): pass\n")
    assert main(["check", *arguments]) == 2
    assert capsys.readouterr().err == f"pystage: {text}\n"


@pytest.mark.parametrize(
    "path", sorted(p for c in OF_CHECK for p in GOLDENS.glob(f"*/{c}_*.py")), ids=lambda p: p.stem
)
def test_goldens(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The text of a golden is what is found, without the closing line; nothing is found in its `rewritten`."""
    shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    main(["check", path.name])
    out = capsys.readouterr().out.replace(f"{tmp_path.resolve()}/", "")
    text = out[: out.rindex("\n\nchecked ")] + "\n"
    golden = path.with_suffix(".txt")
    if os.environ.get("PYSTAGE_UPDATE_GOLDENS"):
        golden.write_text(text)
    assert text == golden.read_text()
