"""The wheel holds all that an installed pystage needs: it is built, installed into a folder of its own, and tried there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PROGRAM = """
import numpy as np
import pystage

@pystage.compile(fallback="error")
def newton(a: float, tol: float):
    x = a
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x

if __name__ == "__main__":
    assert abs(newton(2.0, 1e-9) - 2 ** 0.5) < 1e-9
    assert float(np.sum(pystage.lazy.asarray(np.ones(3)))) == 3.0
    print(pystage.__file__)
"""
TYPED = """
import pystage

@pystage.compile
def twice(x: float) -> float:
    return 2 * x

class Model:
    @pystage.compile(tier="compiled")
    def step(self, x: float, n: int = 2) -> str:
        return ""

    @classmethod
    @pystage.compile
    def made(cls, n: int) -> int:
        return n

reveal_type(twice(1.0))
reveal_type(Model().step(1.0))
Model().step("a")  # type: ignore[arg-type]
Model.made(3)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as it is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    shutil.copytree(ROOT / "pystage", source / "pystage", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "pytest_pystage.py", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = f"from setuptools.build_meta import build_wheel; print(build_wheel({str(folder)!r}))"
    subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    target = folder / "installed"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(wheel),
    ]
    subprocess.run(pip, check=True, capture_output=True)
    return target


def _run(installed: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(installed), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=installed.parent, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_it_runs(installed: Path) -> None:
    program = installed.parent / "newton.py"
    program.write_text(PROGRAM)
    assert str(installed) in _run(installed, str(program))
    assert "is compiled" in _run(installed, "-m", "pystage", "explain", "newton.py::newton")
    assert "PS301" in _run(installed, "-m", "pystage", "explain", "PS301")
    _run(installed, "-m", "pystage", "dump", "newton.py::newton", "--html", "-o", "page.html")
    assert "<html" in (installed.parent / "page.html").read_text()
    assert (installed / "bin" / "pystage").exists()


def test_type_checkers_see_its_types(installed: Path) -> None:
    program = installed.parent / "typed.py"
    program.write_text(TYPED)
    settings = installed.parent / "mypy.ini"
    settings.write_text(
        "[mypy]\nwarn_unused_ignores = true\n[mypy-jax.*,numpy.*,rich.*]\nfollow_imports = skip\n"
    )
    found = _run(installed, "-m", "mypy", "--config-file", str(settings), "--no-incremental", str(program))
    revealed = found.replace("builtins.", "")
    assert 'Revealed type is "float"' in revealed and 'Revealed type is "str"' in revealed
