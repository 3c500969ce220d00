"""Programs in the cache folder: a second compiled function, or a second process, finds them, and only where they hold."""

from __future__ import annotations

import importlib.util
import logging
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from checking import check
from collected_cases import programs
from sampling import ALL

import pystage

EACH = 100 if ALL else 600
"""Of so many programs of the contract one is looked for again."""


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Any]:
    """What is told of the cache, in a folder of its own, from the latest call of this on."""
    monkeypatch.setattr(pystage.config, "_cache_dir", str(tmp_path / "cache"))
    caplog.set_level(logging.INFO, "pystage")

    def latest() -> str:
        found = "\n".join([record.getMessage() for record in caplog.records])
        caplog.clear()
        return found

    return latest


def load(path: Path, source: str) -> ModuleType:
    """The module of a file with this source, loaded anew under one name."""
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("cached_program", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules["cached_program"] = importlib.util.module_from_spec(spec)
    exec(compile(source, str(path), "exec"), vars(module))
    return module


CONTRACT = [
    param
    for name, param in programs("contract")
    if zlib.crc32(f"{name}:{param.id}".encode()) % EACH == 1
    and not dict(param.values[2]).keys() & {"refused", "staged"}
]


@pytest.mark.parametrize("function, args, options", CONTRACT)
def test_programs_of_the_contract(function, args, options, told):
    for attempt in range(2):
        staged = pystage.compile(function, fallback="error")
        check(function, *args, **{**options, "staged": staged, "runs": 1, "interpreted": False})
        text = told()
        kept = "is kept" in text if attempt == 0 else kept  # noqa: F821
    assert not kept or ("is found in" in text and "is not found" not in text)


SOURCE = """
import numpy as np
SCALE = 3
TABLE = np.array([1.0, 2.0])

def inner(x, power=2):
    return x ** power

class Model:
    def __init__(self):
        self.w = np.ones(2)
        self.n = 2
    def step(self, x):
        self.w = self.w + inner(x) * SCALE
        return self.w.sum() * self.n

def main(x, model):
    if x.shape[0] > 5:
        raise ValueError(f"too long: {x.sum()}")
    return model.step(x) + TABLE
"""


def both(module: ModuleType, told: Callable[[], str], *, found: bool, size: int = 2) -> None:
    """Compares a compiled function that is new with the plain one, and whether its program was found."""
    told()
    check(
        module.main, np.arange(float(size)), module.Model(),
        staged=pystage.compile(module.main, fallback="error"),
        runs=1, interpreted=False, raises=ValueError if size > 5 else None,
    )  # fmt: skip
    text = told()
    assert ("is found in" in text) is found, text


def test_a_program_is_found_where_all_that_it_read_is_the_same(
    tmp_path: Path, told: Callable[[], str]
) -> None:
    path = tmp_path / "program.py"
    module = load(path, SOURCE)
    both(module, told, found=False)
    both(module, told, found=True)
    both(load(path, SOURCE), told, found=True)
    module.TABLE = np.array([5.0, 6.0])  # an input of the program
    both(module, told, found=True)


@pytest.mark.parametrize(
    "before, after",
    [
        ("x ** power", "x ** power + 1"),
        ("power=2", "power=3"),
        ("SCALE = 3", "SCALE = 4"),
        ("self.n = 2", "self.n = 2.0"),
        ("inner(x) * SCALE", "inner(x) - SCALE"),
        ("    def step", "    def __len__(self):\n        return 2\n    def step"),
        ("np.array([1.0, 2.0])", "np.array([1, 2])"),
        ("\ndef inner", "\n\ndef inner"),
        (
            "def main",
            "Inner = type('Inner', (), {'__call__': lambda self, x: x})\ninner = Inner()\n\ndef main",
        ),
    ],
)
def test_an_edit_makes_it_another_program(
    before: str, after: str, tmp_path: Path, told: Callable[[], str]
) -> None:
    path = tmp_path / "program.py"
    both(load(path, SOURCE), told, found=False)
    both(load(path, SOURCE.replace(before, after)), told, found=False)


def test_what_it_raises_is_found_too(tmp_path: Path, told: Callable[[], str]) -> None:
    module = load(tmp_path / "program.py", SOURCE)
    both(module, told, found=False, size=6)
    both(module, told, found=True, size=6)


def test_functions_made_by_one_function_are_told_apart(told: Callable[[], str]) -> None:
    def make(n: int) -> Callable[[Any], Any]:
        return lambda x: x * n

    for n, found in ((2, False), (3, False), (2, True)):
        told()
        assert pystage.compile(make(n), fallback="error")(np.ones(2)).tolist() == [n, n]
        assert ("is found in" in told()) is found


def test_two_names_of_one_function_are_no_two_functions(told: Callable[[], str]) -> None:
    def make(n: int) -> Callable[[Any], Any]:
        return lambda x: x * n

    two, three = make(2), make(3)

    def main(x: Any, pair: Any) -> Any:
        f, g = pair
        return f(x) + 10 * g(x)

    def with_pair(f: Any, g: Any) -> Callable[[Any], Any]:
        return lambda x: main(x, (f, g))

    for f, g, expected in ((two, two, 22), (two, three, 32), (three, two, 23)):
        assert pystage.compile(with_pair(f, g), fallback="error")(np.ones(1)).tolist() == [expected]


def test_a_derivative_is_not_that_of_another_function(told: Callable[[], str]) -> None:
    for power in (2, 3):
        derivative = pystage.grad(lambda x, n=power: (x**n).sum())
        assert derivative(np.array([2.0])).tolist() == [power * 2.0 ** (power - 1)]


def test_capacities_and_changing_numbers_are_known_from_the_start(told: Callable[[], str]) -> None:
    def grow(n: Any) -> Any:
        found = []
        i = 0
        while i * i < n:
            if i % 2 == 0:
                found.append(i)
            i += 1
        return found

    first = pystage.compile(grow, fallback="error")
    assert first(90_000.0) == grow(90_000.0)
    programs = len(first._dispatcher.staged)
    told()
    second = pystage.compile(grow, fallback="error")
    assert second(90_000.0) == grow(90_000.0)
    assert len(second._dispatcher.staged) == 1 <= programs
    assert "is not found" not in told()


def test_settings_are_part_of_the_key(told: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    def main(x: Any, i: Any) -> Any:
        return x[i]

    for checks, found in ((True, False), (False, False), (True, True)):
        monkeypatch.setattr(pystage.config, "_check_bounds", checks)
        told()
        assert pystage.compile(main, fallback="error")(np.arange(3.0), 1) == 1.0
        assert ("is found in" in told()) is found


PROGRAM = """
import logging, sys, warnings
import numpy as np
import pystage
warnings.simplefilter("error")
texts = []
handler = logging.Handler()
handler.emit = lambda record: texts.append(record.getMessage())
logging.getLogger("pystage").addHandler(handler)
logging.getLogger("pystage").setLevel(logging.INFO)

def main(x):
    total = x * 0
    for name in {"alpha", "beta", "gamma"}:
        total = total * 10 + len(name) * x
    return total

def other(x):
    def helper(y):
        return y + 1
    print("at", x)
    return helper(x) * 2

for function in (main, other):
    made = pystage.compile(function, fallback="error")(np.arange(3.0))
    assert made.tolist() == function(np.arange(3.0)).tolist()
print([("is found in" in text) for text in texts if "found" in text])
"""


def test_a_second_process(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)

    def run(seed: int) -> str:
        environment = {
            **os.environ,
            "PYSTAGE_CACHE_DIR": str(tmp_path / "cache"),
            "PYTHONHASHSEED": str(seed),
            "JAX_PLATFORMS": "cpu",
        }
        done = subprocess.run(
            [sys.executable, str(path)], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-1]

    assert run(1) == "[False, False]"
    assert run(1) == "[True, True]"
    assert run(2) == "[False, True]"  # the order of a set of texts is another one


def test_the_setting() -> None:
    with pytest.raises(TypeError, match="cache_dir must be a path, 'auto' or None, not 3"):
        pystage.config.cache_dir = 3  # type: ignore[assignment]
