"""What a program waits for before its first result, in counts: modules that are imported, classes with generated code."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pystage.deferred import deferred

PROGRAM = """
import json, sys
import jax.numpy, numpy as np

before = set(sys.modules)

def classes():
    modules = [module for name, module in sorted(sys.modules.items()) if name.startswith("pystage")]
    return {c for m in modules for c in vars(m).values() if isinstance(c, type) and c.__module__.startswith("pystage")}

def generated():
    methods = [method for cls in classes() for method in vars(cls).values()]
    codes = [method.__code__ for method in methods if hasattr(method, "__code__")]
    return sum(code.co_filename == "<string>" for code in codes)

def counts():
    new = set(sys.modules) - before
    ours = [name for name in new if name.startswith("pystage")]
    return {"ours": len(ours), "others": sorted(new - set(ours)), "classes": len(classes()), "generated": generated()}

import pystage
imported = counts()
pystage.compile(lambda x: x * 2 + 1, fallback="error")(np.ones(3))
print(json.dumps([imported, counts()]))
"""


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The counts after `import pystage` and after the first call, in a fresh process."""
    path: Path = tmp_path_factory.mktemp("start") / "program.py"
    path.write_text(PROGRAM)
    out = subprocess.run([sys.executable, str(path)], check=True, capture_output=True, text=True).stdout
    found: list[dict[str, Any]] = json.loads(out)
    return found


def test_import_loads_the_surface_alone(counts: list[dict[str, Any]]) -> None:
    imported = counts[0]
    assert imported["ours"] <= 30
    assert imported["classes"] <= 48
    assert imported["generated"] <= 3
    assert not imported["others"]


def test_the_first_call_generates_code_for_classes_that_it_allocates_alone(
    counts: list[dict[str, Any]],
) -> None:
    called = counts[1]
    assert called["ours"] <= 574
    assert called["classes"] > 700
    assert called["generated"] <= 100
    assert len(called["others"]) <= 25
    assert not [name for name in called["others"] if name.startswith(("libcst", "jax.extend", "rich"))]


def test_no_collection_searches_what_a_deferred_module_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "makes_many.py").write_text(
        "MANY = [[] for _ in range(100_000)]\ndef called(): return MANY\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    begun: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        begun.append(info["generation"])

    gc.callbacks.append(note)
    try:
        many = deferred("makes_many", "called")()
        kept = [[] for _ in range(100)]
    finally:
        gc.callbacks.remove(note)
    assert len(many) == 100_000 and len(kept) == 100
    assert not begun
