"""`python -m benchmarks [name …]`: runs the benchmarks of these names, or all and writes the report.

A benchmark is a module with a function `measure`, which is loaded when its turn comes: what another one loads (PyTorch,
Numba) makes Python's garbage collector run less often, and so would change the times of compiling, JAX's above all.
"""

from __future__ import annotations

import importlib
import os
import sys

from rich.console import Console
from rich.progress import track

import pystage

from .measuring import Table
from .report import write

BENCHMARKS = (
    "front_end",
    "program_size",
    "run_time",
    "first_example",
    "losses",
    "dynamic",
    "in_place",
    "call_overhead",
    "lists",
    "captures",
    "checks",
    "programs",
    "scaling",
    "by_hand",
    "emitters",
    "gradients",
    "models",
    "models_in_torch",
    "lazy",
    "lazy_small",
    "batches",
    "importing",
    "first_calls",
    "second_process",
    "explaining",
)


def main(names: list[str]) -> int:
    """Runs benchmarks and prints their tables; what they compile is compiled in the first call."""
    os.environ.setdefault("PYSTAGE_TIER", "compiled")
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    pystage.config.fallback = "error"  # what is measured is staged
    tables: list[Table] = []
    console = Console(stderr=True)
    shown = track(names or BENCHMARKS, "benchmarks", console=console, disable=not console.is_terminal)
    for name in shown:
        print(f"{name} …", file=sys.stderr, flush=True)
        made: list[Table] = importlib.import_module(f".{name}", __package__).measure()
        print("\n".join(table.markdown() for table in made), flush=True)
        tables += made
    if not names:
        write(tables)
    return 0


sys.exit(main(sys.argv[1:]))
