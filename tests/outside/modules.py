"""The test modules of NumPy that are run, each in a process of its own that may die."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from outside.results import lines_of

TESTS = Path(__file__).resolve().parents[1]
NUMPY = Path(np.__file__).resolve().parent
MODULES = (
    *[
        f"_core/{name}"
        for name in (
            "numeric",
            "multiarray",
            "ufunc",
            "umath",
            "indexing",
            "item_selection",
            "shape_base",
            "einsum",
            "scalarmath",
            "nep50_promotions",
            "regression",
            "function_base",
        )
    ],
    *[
        f"lib/{name}"
        for name in (
            "function_base",
            "nanfunctions",
            "arraysetops",
            "arraypad",
            "histograms",
            "shape_base",
            "twodim_base",
            "index_tricks",
            "polynomial",
            "stride_tricks",
            "type_check",
            "ufunclike",
        )
    ],
    "linalg/linalg",
    "linalg/regression",
    "fft/pocketfft",
    "fft/helper",
    "random/generator_mt19937",
    "random/generator_mt19937_regressions",
)
QUIET = 180
"""Seconds after which a process that has written nothing is ended: the test that it runs is slow."""
STARTS = 20
"""How often a module is started again after a test that ended its process."""
FLAGS = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"


def missing() -> str | None:
    """Why NumPy's tests cannot run here; None where they can."""
    if not (NUMPY / "_core" / "tests").is_dir():
        return "this NumPy has been installed without its tests"
    for needed in ("pytest", "hypothesis"):
        if importlib.util.find_spec(needed) is None:
            return f"NumPy's tests need {needed}"
    return None


def file_of(module: str) -> Path:
    """The file of a module such as `lib/histograms`."""
    package, _, name = module.partition("/")
    return NUMPY / package / "tests" / f"test_{name}.py"


def run_module(module: str, out: Path, lazily: bool = False, only: Sequence[str] = ()) -> None:
    """Runs the tests of a module, or those that are named, and writes a line of JSON for each to `out`.

    A test that ends the process, or holds it up, has `died` for its state or is `slow`; the others run in a new process.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("")
    done = out.with_suffix(".done")
    for _ in range(STARTS):
        done.write_text("\n".join(_names(out)))
        slow = _run(module, out, done, lazily, only)
        unfinished = _unfinished(out)
        if unfinished is None:
            break
        state = "slow" if slow else "died"
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"test": unfinished, "state": state}) + "\n")
    done.unlink()


def _run(module: str, out: Path, done: Path, lazily: bool, only: Sequence[str]) -> bool:
    """One process; True if it was ended because it wrote nothing."""
    path = os.pathsep.join([str(TESTS.parent), str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {
        **os.environ,
        "OUTSIDE_OUT": str(out),
        "OUTSIDE_DONE": str(done),
        "OUTSIDE_LAZY": "1" if lazily else "",
        "PYTHONPATH": path,
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {FLAGS}",
    }
    tests = [f"{file_of(module)}::{name}" for name in only] or [str(file_of(module))]
    options = ["-p", "outside.plugin", "-p", "no:cacheprovider", "-n0", "-q", "--assert=plain", "--tb=no"]
    settings = ["-o", "filterwarnings=default", "--rootdir", str(NUMPY)]
    command = [sys.executable, "-m", "pytest", *options, *settings, *tests]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    written = -1
    while True:
        try:
            process.wait(QUIET)
            return False
        except subprocess.TimeoutExpired:
            size = out.stat().st_size
            if size == written:
                process.kill()
                process.wait()
                return True
            written = size


def _names(out: Path) -> list[str]:
    return [line["test"] for line in lines_of(out) if line["state"] != "started"]


def _unfinished(out: Path) -> str | None:
    """The test that was running when the process ended."""
    started = [line["test"] for line in lines_of(out) if line["state"] == "started"]
    ended = set(_names(out))
    return next((name for name in started if name not in ended), None)
