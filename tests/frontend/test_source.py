"""Finding the source: every kind of function, lambdas on one line, and every way to have none."""

from __future__ import annotations

import ast
import functools
import importlib.util
import linecache
import os
import pty
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

from pystage.compiler.frontend import FrontendError, find_source, stage_function
from pystage.compiler.frontend.build import class_of
from pystage.compiler.stage import ir

from .stage_interpreter import as_python

PAIR = [lambda x: x + 1, lambda x: x + 2]
NESTED = lambda: lambda: 3  # noqa: E731


def import_text(tmp_path, text: str, name: str = "written"):
    """A module from a file with this text."""
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"{name}_{time.monotonic_ns()}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, path


def refused(function) -> str:
    with pytest.raises(FrontendError) as error:
        stage_function(function)
    return error.value.diagnostics[0].code


def plain_decorator(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)

    return wrapper


class Holder:
    """Methods of all kinds."""

    @plain_decorator
    @plain_decorator
    def method(self, x):
        return x

    @staticmethod
    def static(x):
        return x + 1

    def make(self):
        def inner(y):
            return y * 2

        return inner


def test_definitions():
    assert find_source(Holder.static).text.lstrip().startswith("@staticmethod")
    assert find_source(Holder().make).text.startswith("    def make(self)")
    assert find_source(Holder().make()).text.startswith("        def inner(y)")
    inner = find_source(Holder.method.__wrapped__.__wrapped__)
    assert inner.text.count("@plain_decorator") == 2 and inner.line == inner.code.co_firstlineno
    assert find_source(Holder.make.__code__).text == find_source(Holder.make).text


def test_spans_are_places_in_the_file():
    staged = stage_function(Holder().make())
    lines = linecache.getlines(__file__)
    product = next(i for i in staged.body if isinstance(i, ir.Binary))
    span = product.span
    assert lines[span.line - 1][span.column : span.end_column] == "y * 2"
    assert span.file == __file__ and span.function == "Holder.make.<locals>.inner"
    sums = [next(i for i in stage_function(f).body if isinstance(i, ir.Binary)).span for f in PAIR]
    assert [lines[s.line - 1][s.column : s.end_column] for s in sums] == ["x + 1", "x + 2"]


def test_lambdas_on_one_line():
    assert [find_source(f).text for f in PAIR] == ["lambda x: x + 1", "lambda x: x + 2"]
    assert find_source(NESTED).text == "lambda: lambda: 3"
    assert find_source(NESTED()).text == "lambda: 3"
    é = "é"; umlaut = [lambda: "ü" + é, lambda: "ö" + é]  # fmt: skip
    assert [as_python(f)() for f in umlaut] == ["üé", "öé"]


def test_statements_that_were_compiled_one_by_one():
    """As IPython does with those of a cell: CPython compiles `np.sin(x)` otherwise where it sees that `np` is a module."""
    text = "import numpy as np\n\n@cases\n@cases\ndef f(x):\n    return np.sin(x)\n\n"
    text += "class A:\n    def g(self, x):\n        return np.cos(x)\n"
    name = "<cell of statements>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    space = {"cases": lambda f: f}
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), name, "exec"), space)
    for function, first, last in ((space["f"], "@cases", "np.sin(x)"), (space["A"].g, "def g", "np.cos(x)")):
        found = find_source(function).text.strip()
        assert found.startswith(first) and found.endswith(last)
    linecache.cache[name] = len(text), None, text.replace("cos", "sin").splitlines(keepends=True), name
    with pytest.raises(FrontendError, match="PS103"):
        find_source(space["A"].g)


def test_lambda_over_several_lines():
    spread = functools.partial(
        lambda x, y: [
            x,
            y + 1,
        ],
        1,
    )
    assert as_python(spread.func)(1, 2) == [1, 3]
    span = next(i for i in stage_function(spread.func).body if isinstance(i, ir.Binary)).span
    assert linecache.getlines(__file__)[span.line - 1][span.column : span.end_column] == "y + 1"


def test_tabs_continuations_and_odd_layout(tmp_path):
    text = (
        "class A:\n\tdef f(self, x):\n\t\tif x: return \\\n  x + 1\n\n\t\t# dedented\n\t\ts = '''\nleft\n'''\n\t\treturn s\n"
        "def one(): return 1; x = 2\n"
        "\n\n@(lambda f: f)\n# comment\n\n@(lambda f: f)\ndef two(\n  a,\n  b=(1,\n2),\n): return a\f+ 1  # end"
    )
    module, _ = import_text(tmp_path, text)
    assert as_python(module.A.f)(None, 1) == 2
    assert as_python(module.A.f)(None, 0) == "\nleft\n"
    assert as_python(module.one)() == 1
    assert as_python(module.two)(1) == 2


def test_crlf_and_encoding(tmp_path):
    path = tmp_path / "latin.py"
    path.write_bytes("# -*- coding: latin-1 -*-\r\ndef f(x):\r\n    return x + 'é'\r\n".encode("latin-1"))
    spec = importlib.util.spec_from_file_location("latin", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert as_python(module.f)("a") == "aé"


def test_no_source():
    module: dict[str, object] = {}
    exec("def f(x):\n    return x\n", module)
    assert refused(module["f"]) == "PS101"
    assert refused(len) == "PS102"
    assert refused(functools.partial(len)) == "PS102"
    assert refused(3) == "PS102"


def test_source_changed_on_disk(tmp_path):
    before = "def f(x):\n    return x + 1\n\ndef g(x):\n    return x\n"
    for after in (
        "def f(x):\n    return x + 2\n\ndef g(x):\n    return x\n",
        "def f(x):\n    return x + 1.0\n\ndef g(x):\n    return x\n",
        "def f(x, y=1):\n    return x + 1\n\ndef g(x):\n    return x\n",
        "\n\ndef f(x):\n    return x + 1\n",
        "def f(x:\n",
    ):
        module, path = import_text(tmp_path, before)
        path.write_text(after)
        os.utime(path, (1, 1))
        assert refused(module.f) == "PS103"
    module, path = import_text(tmp_path, before)
    path.write_text("def f(x):  # a comment\n    return x + 1\n\ndef g(x):\n    return x * 2\n")
    os.utime(path, (2, 2))
    assert as_python(module.f)(1) == 2
    assert refused(module.g) == "PS103"


def test_future_annotations_do_not_matter(tmp_path):
    module, _ = import_text(
        tmp_path, "from __future__ import annotations\ndef f(x: Nope) -> Nope:\n    return x\n"
    )
    assert as_python(module.f)(1) == 1


def test_class_of_a_qualified_name():
    assert class_of("f") == ""
    assert class_of("C.f") == "C"
    assert class_of("C.f.<locals>.g") == "C"
    assert class_of("f.<locals>.C.g") == "C"
    assert class_of("C.D.f.<locals>.<lambda>") == "D"
    assert class_of("f.<locals>.g") == ""


def test_result_is_remembered_and_shared_between_threads(tmp_path):
    module, _ = import_text(tmp_path, "def f(x):\n    return x\n")
    found = []
    threads = [threading.Thread(target=lambda: found.append(stage_function(module.f))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(set(map(id, found))) == 1


def test_shadowed_builtins(tmp_path):
    text = "def f(xs):\n    return any(x for x in xs)\n"
    module, _ = import_text(tmp_path, text)
    assert as_python(module.f)([0, 2]) is True
    module.any = list
    assert stage_function(module.f).nested[0].is_generator


def test_equal_code_in_different_files_is_told_apart(tmp_path):
    text = "def f(x):\n    return x\n"
    first, _ = import_text(tmp_path, text, "first")
    second, _ = import_text(tmp_path, text, "second")
    files = [stage_function(module.f).span.file for module in (first, second)]
    assert files == [str(tmp_path / "first.py"), str(tmp_path / "second.py")]


PROMPT = """
import pystage
def f(x): return x * 2
def refused(function):
    try: pystage.code_lowered(function)
    except pystage.StagingError as error: return error.diagnostics[0]
exec("def g(x): return x * 3")
print(refused(f), refused(g).code)
print(refused(g).advice)
"""
WAYS = {
    "-c": (["-c", PROMPT], None),
    "options": (["-Bc", PROMPT], None),
    "attached": (["-c" + PROMPT], None),
    "file": (["-"], "file"),
    "pipe": (["-"], "pipe"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_is_no_file(way, tmp_path):
    words, kind = WAYS[way]
    (tmp_path / "script.py").write_text(PROMPT)
    with open(tmp_path / "script.py") as script:
        given = {"stdin": script} if kind == "file" else {"input": PROMPT}
        done = subprocess.run([sys.executable, *words], **given, check=True, capture_output=True, text=True)
    if kind == "pipe":
        assert (
            "PS101" in done.stdout and "a pipe or a here-document, which cannot be read again" in done.stdout
        )
    else:
        assert done.stdout.startswith("None PS101\n") and "`exec` or `eval`" not in done.stdout
        assert "write the text to a .py file" in done.stdout


@pytest.mark.parametrize("basic", ["", "1"])
def test_a_function_of_the_prompt(basic):
    """CPython keeps what was typed from 3.13 on."""
    lines = ["import pystage", "f = lambda x: x * 2", "print(pystage.code_lowered(f))", "exit()"]
    environment = {**os.environ, "PYTHON_BASIC_REPL": basic, "TERM": "dumb"}
    ours, its = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-q"], stdin=its, stdout=its, stderr=its, env=environment
    ) as prompt:
        os.close(its)
        for line in lines:
            os.write(ours, line.encode() + b"\r")
        told = b""
        with suppress(OSError):  # at the end of the process
            while piece := os.read(ours, 4096):
                told += piece
    os.close(ours)
    assert prompt.returncode == 0
    if sys.version_info >= (3, 13):
        assert b"return" in told and b"PS101" not in told
    else:
        assert b"this prompt keeps no text" in told


def test_what_python_keeps_of_a_prompt_is_a_source(monkeypatch):
    """As CPython 3.14 keeps it: by the code object, not by the name of a file."""
    text = "def f(x): return x * 7\n"
    scope = {}
    exec(compile(text, "<python-input-3>", "single"), scope)
    kept = {scope["f"].__code__: [text]}
    monkeypatch.setattr(linecache, "_getlines_from_code", lambda code: kept.get(code, []), raising=False)
    assert find_source(scope["f"]).text == text
    kept.clear()
    assert refused(scope["f"]) == "PS101"


def test_a_cell_under_a_magic(monkeypatch):
    class History:
        input_hist_raw = ["", "%%time\ndef f(x): return x + 1", "%%time\ndef f(x): return x + 2"]

    class Shell:
        history_manager = History()

    python = type(sys)("IPython")
    python.get_ipython = Shell
    monkeypatch.setitem(sys.modules, "IPython", python)
    for body in ("x + 2", "x + 1"):
        scope = {}
        exec(compile(f"def f(x): return {body}", "<timed exec>", "exec"), scope)
        assert body in find_source(scope["f"]).text
    linecache.cache.pop("<timed exec>")


def test_a_file_in_another_encoding(tmp_path):
    path = tmp_path / "latin.py"
    path.write_bytes("def f(x): return x  # \xe9".encode("latin-1"))
    scope = {}
    exec(compile(path.read_text("latin-1"), str(path), "exec"), scope)
    with pytest.raises(FrontendError) as error:
        stage_function(scope["f"])
    assert "UTF-8" in error.value.diagnostics[0].advice


def test_a_file_that_is_gone():
    scope = {}
    exec(compile("def f(x): return x", "/nowhere/model.py", "exec"), scope)
    with pytest.raises(FrontendError) as error:
        stage_function(scope["f"])
    assert "there is no file /nowhere/model.py" in error.value.diagnostics[0].headline
