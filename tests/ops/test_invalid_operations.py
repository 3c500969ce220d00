"""No operation, whatever its static operands and the types of its operands are, ends the process in XLA.

Wild applications are refused by the transfer function with `ShapeError`, or are programs that MLIR verifies and XLA
compiles. They are tried in another process: the first that ends it fails the test, by its number.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from sampling import ALL

from .invalid_operations import wild

STEP = 1 if ALL else 41
"""One of so many applications is tried."""
SEED, EACH = 0, 2


def test_wild_operations_are_refused_or_compiled() -> None:
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0"
    command = [sys.executable, "-m", "tests.ops.invalid_operations", *map(str, (0, STEP, SEED, EACH))]
    run = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "XLA_FLAGS": flags},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line.split(" ", 2) for line in run.stdout.splitlines()]
    tried = [int(number) for word, number, *_ in lines if word == "try"]
    became = {int(number): what for word, number, *rest in lines if word == "did" for what in rest}
    applications = list(wild(SEED, EACH))
    assert run.returncode == 0, f"{applications[tried[-1]]} ended the process: {run.stderr[-2000:]}"
    wrong = {str(applications[n]): what for n, what in became.items() if what not in ("refused", "compiled")}
    assert not wrong
    counts = Counter(became.values())
    assert len(tried) == len(range(0, len(applications), STEP))
    assert min(counts["refused"], counts["compiled"]) > len(tried) // 4
