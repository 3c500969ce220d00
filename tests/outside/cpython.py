"""CPython's own tests, the calls and operators of each test method staged: `PYTHONPATH=tests python -m outside.cpython`.

Nothing is copied: the `test` package is taken from where CPython is installed. Each test first runs rewritten with nothing
staged; what passes then is usable. Then each call, and the whole bodies of tests that only compare, run plain and staged.
The options: names of modules, `--each N` (every Nth test), `--into FOLDER` for the table and all that differs.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib
import importlib.util
import io
import itertools
import json
import linecache
import os
import subprocess
import sys
import tempfile
import types
import unittest
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .cpython_rewriting import STAGER, bodies, rewritten
from .cpython_staging import SECONDS, Record, Slow, Stager, is_data, limited, ran

MODULES = [
    "math",
    "cmath",
    "float",
    "int",
    "complex",
    "list",
    "tuple",
    "dict",
    "set",
    "deque",
    "heapq",
    "bisect",
    "itertools",
    "functools",
    "enumerate",
    "range",
    "slice",
    "str",
    "generators",
    "iter",
    "exceptions",
    "grammar",
    "with",
    "unpack",
    "augassign",
    "dataclasses",
    "contains",
    "builtin",
    "bool",
    "bytes",
    "string",
    "operator",
    "listcomps",
    "setcomps",
    "dictcomps",
    "pow",
    "compare",
    "named_expressions",
    "patma",
    "fstring",
    "call",
    "extcall",
    "keywordonlyarg",
    "scope",
    "unary",
    "userlist",
    "userdict",
]
_NAMES = {"str": "unicode", "exceptions": "exceptions", "patma": "patma"}
_SHARED = ("test.seq_tests", "test.list_tests", "test.mapping_tests", "test.string_tests")
"""Modules whose classes those of others inherit."""
FAILS = "the test fails"
MINUTES = 20


@dataclass
class Verdict:
    """What became of one test."""

    name: str
    what: str  # same, refused, rounding, beyond, different, slow
    code: str = ""
    calls: int = 0
    texts: tuple[str, ...] = ()


def module_of(name: str) -> str:
    """The name of a module of tests."""
    return f"test.test_{_NAMES.get(name, name)}"


def is_installed() -> bool:
    """True where CPython's `test` package is there."""
    return (
        importlib.util.find_spec("test") is not None
        and importlib.util.find_spec("test.test_math") is not None
    )


def tests_of(name: str, each: int = 1) -> Iterator[Verdict]:
    """Runs every `each`th test of a module that is usable."""
    for helper in _SHARED:
        _rewritten_module(helper)
    module, source = _rewritten_module(module_of(name))
    file = str(module.__file__)
    for test in itertools.islice(_cases(module), 0, None, each):
        _give(Stager(file, identity=True))
        if not _passes(test):
            continue
        stager = Stager(file, identity=False)
        _give(stager)
        found = _run(test.id().removeprefix(f"{module.__name__}."), lambda t=test: _passes(t), stager.record)  # type: ignore[misc]
        if found is not None:
            yield _beyond(found, test, file) if found.texts == (FAILS,) else found
    _give(Stager(file, identity=True))
    yield from _bodies(module, source, each)


def _rewritten_module(name: str) -> tuple[types.ModuleType, str]:
    """A module of tests, rewritten and imported, with its source."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    source = Path(spec.origin).read_text()
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    setattr(importlib.import_module("test"), name.rpartition(".")[2], module)
    module.__dict__[STAGER] = Stager(spec.origin, identity=True)
    exec(rewritten(source, spec.origin), module.__dict__)
    return module, source


def _give(stager: Stager) -> None:
    """Lets all rewritten modules call `stager`."""
    for module in list(sys.modules.values()):
        if STAGER in vars(module):
            setattr(module, STAGER, stager)


def _cases(module: types.ModuleType) -> Iterator[unittest.TestCase]:
    pending: list[Any] = [unittest.defaultTestLoader.loadTestsFromModule(module)]
    while pending:
        suite = pending.pop(0)
        if isinstance(suite, unittest.TestCase):
            yield suite
        else:
            pending = [*suite, *pending]


def _passes(test: unittest.TestCase) -> bool:
    """Runs a test. False if it fails, is skipped, or takes too long with nothing staged."""
    result = unittest.TestResult()
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        type(test).setUpClass()
        try:
            test.run(result)
        finally:
            type(test).tearDownClass()
    return result.wasSuccessful() and not result.skipped


def _run(name: str, run: Any, record: Record) -> Verdict | None:
    """Runs a test, and says what became of the calls that were staged; None where none was."""
    try:
        with limited(SECONDS):
            passed = run()
    except Slow:
        return Verdict(name, "slow", calls=record.calls, texts=tuple(record.different))
    if not passed and record.rounded and not record.different:
        return Verdict(
            name, "rounding", calls=record.calls, texts=("a digit that the test asks for is another",)
        )
    if record.different or (record.calls and not passed):
        return Verdict(name, "different", calls=record.calls, texts=tuple(record.different) or (FAILS,))
    if record.refused:
        return Verdict(name, "refused", record.refused.most_common(1)[0][0], record.calls)
    return Verdict(name, "same", calls=record.calls) if record.calls else None


def _beyond(found: Verdict, test: unittest.TestCase, file: str) -> Verdict:
    """What became of a test that fails though its calls are the same.

    If it passes with the results of the plain calls, it asks for more than data: which object something is, or its memory.
    """
    stager = Stager(file, identity=False, as_plain=True)
    _give(stager)
    again = _run(found.name, lambda: _passes(test), stager.record)
    if again is None or again.what in ("different", "slow"):
        return found
    return Verdict(found.name, "beyond", calls=found.calls, texts=("the test asks for more than data",))


def _bodies(module: types.ModuleType, source: str, each: int) -> Iterator[Verdict]:
    """Whole bodies of tests that only compare, each as a staged function."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in itertools.islice(bodies(source).items(), 0, None, each):
            file = os.path.join(folder, f"{name}.py")
            Path(file).write_text(text)
            linecache.checkcache(file)
            exec(compile(text, file, "exec"), module.__dict__)
            function = module.__dict__[name.partition(".")[2]]
            with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                plain = ran(function, (), {})
                if plain.error is not None or not is_data(plain.result):
                    continue
                stager = Stager(file, identity=False)
                found = _run(f"{name} (body)", lambda s=stager, f=function: s.body(f) or True, stager.record)  # type: ignore[misc]
            if found is not None:
                yield found


# ---------------------------------------------------------------- all modules


def _in_a_process(name: str, each: int) -> list[Verdict]:
    """The tests of a module, run in a process of their own; what ends that process is a test that differs."""
    command = [sys.executable, "-m", "outside.cpython", "--only", name, "--each", str(each)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 * MINUTES, check=False)
        output, ended = done.stdout, done.returncode
    except subprocess.TimeoutExpired as expired:
        output, ended = (expired.stdout or b"").decode(), 0
    found = [Verdict(**json.loads(line)) for line in output.splitlines() if line.startswith("{")]
    if ended:
        found.append(Verdict(name, "different", texts=(f"the process ended: {done.stderr[-300:]}",)))
    return found


def table(found: dict[str, list[Verdict]]) -> str:
    """Markdown: by module, how many tests are usable, and what became of them."""
    lines = [
        "| tests of | usable | same | refused | rounding | beyond | different | slow | calls |",
        "| --- |" + " ---: |" * 8,
    ]
    everything = [t for tests in found.values() for t in tests]
    for name, tests in [*found.items(), ("all", everything)]:
        count = Counter(t.what for t in tests)
        codes = Counter(t.code for t in tests if t.what == "refused")
        by_code = ", ".join(f"{code} {n}" for code, n in codes.most_common(6))
        refused = f"{count['refused']} ({by_code})" if by_code else "0"
        calls = sum(t.calls for t in tests)
        row = (
            name,
            len(tests),
            count["same"],
            refused,
            *(count[what] for what in ("rounding", "beyond", "different", "slow")),
            calls,
        )
        lines.append("| " + " | ".join(map(str, row)) + " |")
    return "\n".join(lines)


def main() -> None:
    """Runs the tests, and prints the table and what differs."""
    parser = argparse.ArgumentParser(prog="python -m outside.cpython", description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES)
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--into", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if not is_installed():
        print("CPython's `test` package is not installed: nothing is run")
    elif options.only:
        for tested in tests_of(options.only, options.each):
            print(json.dumps(asdict(tested)), flush=True)
    else:
        with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
            names = list(options.modules)
            found = dict(
                zip(names, pool.map(lambda name: _in_a_process(name, options.each), names), strict=True)
            )
        text = table(found)
        different = [f"{n}: {t.name}: {x}" for n, tests in found.items() for t in tests for x in t.texts]
        print(text, *different, sep="\n")
        if options.into is not None:
            options.into.mkdir(parents=True, exist_ok=True)
            (options.into / "cpython.md").write_text(text + "\n")
            (options.into / "cpython.txt").write_text("\n".join(different) + "\n")


if __name__ == "__main__":
    main()
