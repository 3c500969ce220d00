"""Proof that staging is no trace: no code object of the user's program runs while it is staged."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

import pystage

FOLDER = Path(__file__).resolve().parent.parent / "examples"
sys.path += [str(FOLDER), str(FOLDER / "models")]  # one imports from another
EXAMPLES = [path for path in sorted(FOLDER.rglob("*.py")) if "\nPROGRAMS" in path.read_text(encoding="utf-8")]


def load(path: Path) -> ModuleType:
    """The example as a module of its own."""
    name = f"example_{path.stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@contextmanager
def watching(modules: set[str]) -> Iterator[list[str]]:
    """Lists every code object of `modules` that is entered in the `with` block."""
    entered: list[str] = []

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_globals.get("__name__") in modules:
            entered.append(f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}")

    sys.setprofile(profile)
    try:
        yield entered
    finally:
        sys.setprofile(None)


CASES = [
    pytest.param(path, function.__name__, number, id=f"{path.stem}-{function.__name__}-{number}")
    for path in EXAMPLES
    for number, (function, _) in enumerate(load(path).PROGRAMS)
]


@pytest.mark.parametrize(("path", "name", "number"), CASES)
def test_staging_runs_no_user_code(path: Path, name: str, number: int) -> None:
    module = load(path)
    function: Callable[..., Any]
    function, make = module.PROGRAMS[number]
    args = make()
    staged = pystage.compile(function)
    with watching({module.__name__}) as entered:
        staged(*args)
    assert not entered


def test_the_watch_sees_a_call() -> None:
    module = load(EXAMPLES[0].parent / "newton.py")
    function, make = module.PROGRAMS[0]
    args = make()
    with watching({module.__name__}) as entered:
        function(*args)
    assert entered
