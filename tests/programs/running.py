"""Runs a random program plain and staged, or its gradient, and says what came of it."""

from __future__ import annotations

import functools
import itertools
import tempfile
import warnings
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pystage
from checking import check
from gradient_checks import check_gradient
from offload.replacing import Replacing
from offload.running import compiled_at_once
from outcomes import Outcome
from pystage.lazy.fallback import run_lazily

from .calling import Call, check_calls, load, renew
from .random_modules import World
from .strategy import Program

SLACK = {"float64": 1e-4, "float32": 2e-3, "float16": 1e-1, "bfloat16": 1e-1}
"""How far numbers with rounding may differ, which programs add, square and divide again and again; those of float64
may come from float32."""

_numbers = itertools.count()


def run(program: Program) -> Outcome:
    """Runs one program both ways, on all its inputs; the worst of what comes of them."""
    return _run(program, functools.partial(pystage.compile, fallback="error"))


def run_on_lazy_tensors(program: Program) -> Outcome:
    """The same with lazy tensors in place of ndarrays."""
    return _run(program, lambda function: lambda *args: run_lazily(function, args, {}, 0))


STAYS = '__import__("time").time()'
"""A statement that never stages."""


def run_in_part(program: Program) -> Outcome:
    """The same with a statement that never stages in the middle: what stands around it is staged, if it can be."""
    first, *lines = program.lines
    places = [n for n, line in enumerate(lines) if _is_statement(line)]
    place = places[len(places) // 2]
    lines.insert(place, f"    {STAYS}")
    return _run(replace(program, lines=(first, *lines)), compiled_at_once)


def run_replaced(program: Program) -> Outcome:
    """The same by a plain run that is replaced the second time that it comes to the head of a loop."""
    return _run(program, lambda function: Replacing(function, 1))


def _is_statement(line: str) -> bool:
    """True for a line that begins a statement of the program's own block."""
    word = line.strip().partition(" ")[0].rstrip(":")
    return line.startswith("    ") and line[4] != " " and word not in ("else", "elif", "except", "finally")


def _run(program: Program, other: Callable[[Any], Callable[..., Any]]) -> Outcome:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = load(_written(program.source(), Path(folder)))
        staged = other(module.program)
        outcome = Outcome("same")
        for texts in program.inputs:
            args = [eval(text, vars(module)) for text in texts]
            try:
                raised = _raised(module, texts)
                check(
                    module.program,
                    *args,
                    staged=staged,
                    raises=raised,
                    runs=1,
                    interpreted=False,
                    tolerance=SLACK,
                )
            except pystage.StagingError as error:
                return Outcome(error.diagnostics[0].code, f"{error}\nwith {', '.join(texts)}")
            except AssertionError as error:
                return Outcome("differs", f"{error}\n{error.__cause__!r}\nwith {', '.join(texts)}")
            if raised is not None:
                outcome = Outcome("raises")
        return outcome


def run_world(world: World) -> Outcome:
    """Calls the program of a random module several times both ways."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = _written(world.source(), Path(folder))
        calls = [Call("program", step.args, step.changes) for step in world.steps]
        try:
            return Outcome("raises" if check_calls(path, calls, SLACK) else "same")
        except pystage.StagingError as error:
            return Outcome(error.diagnostics[0].code, str(error))
        except AssertionError as error:
            return Outcome("differs", f"{error}\n{error.__cause__!r}")


def differentiate(program: Program | World) -> Outcome:
    """Checks the gradient of a program whose narrow numbers are made wide, at the first of its inputs."""
    source = _promoted(program.source())
    texts = [_promoted(text) for text in program.first]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = _written(source, Path(folder))
        module = load(path)
        number = zlib.crc32(source.encode())
        begin = (lambda: renew(module)) if isinstance(program, World) else (lambda: None)
        outcome = check_gradient(
            module.program,
            tuple([eval(text, vars(module)) for text in texts]),
            second=number % 3 == 0 and isinstance(program, Program),
            compiled=number % 8 == 1,
            begin=begin,
        )
        return Outcome(outcome.what, f"{outcome.text}\nwith {', '.join(texts)}")


def _promoted(text: str) -> str:
    return text.replace("float32", "float64").replace("complex64", "complex128")


def _raised(module: ModuleType, texts: tuple[str, ...]) -> type[Exception] | None:
    """The class of the exception with which the plain run ends."""
    with np.errstate(all="ignore"):
        try:
            module.program(*[eval(text, vars(module)) for text in texts])
        except Exception as error:
            return type(error)
    return None


def _written(source: str, folder: Path) -> Path:
    """The source file of a program."""
    path = folder / f"random_program_{next(_numbers)}.py"
    path.write_text(source)
    return path
