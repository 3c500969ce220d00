"""Scientists' programs (`examples/programs/`): each is one staged program, and does what its plain run does."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pystage
import pytest
from checking import check

FOLDER = Path(__file__).parents[2] / "examples" / "programs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
EXPECTED = """
cavity_flow crc fft_by_hand floyd_warshall game_of_life gauss_seidel gram_schmidt heat_equation hopfield jacobi
mandelbrot_arrays mandelbrot_pixels nbody needleman_wunsch pagerank sparse_product viterbi
""".split()


def load(name: str) -> ModuleType:
    """The program as a module; it runs nothing when imported."""
    if (module := sys.modules.get(f"programs_{name}")) is not None:
        return module
    spec = importlib.util.spec_from_file_location(f"programs_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PROGRAMS = [
    pytest.param(function, make, id=f"{name}-{function.__name__}-{number}")
    for name in NAMES
    for number, (function, make) in enumerate(load(name).PROGRAMS)
]


def test_all_programs_are_there() -> None:
    assert NAMES == EXPECTED


@pytest.mark.parametrize(("function", "make"), PROGRAMS)
def test_the_plain_and_the_staged_program_agree(function, make) -> None:
    staged = pystage.compile(function, fallback="error")
    check(function, *make(), staged=staged)
    assert len(staged.signatures()) == 1


@pytest.mark.parametrize("name", NAMES)
def test_each_program_says_where_it_is_from(name) -> None:
    module = load(name)
    assert "Source: " in (module.__doc__ or "")
    functions = {function for function, _ in module.PROGRAMS}
    assert len(module.PROGRAMS) == 2 * len(functions), "two sizes of each"
    assert all(function.__doc__ for function in functions)
