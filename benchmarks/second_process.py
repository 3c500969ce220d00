"""What the cache folder saves: the first call of whole programs in a process, and in the next one with the same folder."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .measuring import Table

SCRIPTS = Path(__file__).parents[1] / "examples" / "scripts"
NAMES = (
    "biquad_equaliser",
    "kalman_tracking",
    "smith_waterman",
    "simplex_lp",
    "dijkstra_heap",
    "otsu_threshold",
)

PROGRAM = """import importlib.util, sys, time, warnings
import jax, jax.numpy, numpy as np
(jax.numpy.ones(3) + 1).block_until_ready()
import pystage
warnings.simplefilter("ignore")
spec = importlib.util.spec_from_file_location("program", sys.argv[1])
module = sys.modules["program"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
function = pystage.compile(module.main, tier="compiled", fallback="error")
args = module.inputs(0)
began, worked = time.perf_counter(), time.process_time()
function(*args)
print(time.perf_counter() - began, time.process_time() - worked)
"""


def measure() -> list[Table]:
    """Seconds of the first call in either process, by the clock and of the processor."""
    text = (
        "The first call of scripts, compiled at once, in a fresh process with an empty cache folder (`PYSTAGE_CACHE_DIR`), "
        "and in the next process. Seconds; the imports that the call needs are in them. Aim: a quarter."
    )
    columns = ("script", "first, clock", "second, clock", "first, processor", "second, processor", "share")
    table = Table("Second process", text, columns)
    shares = []
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder:
            (clock, processor), (later_clock, later) = [_first_call(name, folder) for _ in range(2)]
        shares.append(later / processor)
        seconds = [f"{s:.2f}" for s in (clock, later_clock, processor, later)]
        table.rows.append((name, *seconds, f"{shares[-1]:.2f}"))
    mean = math.exp(sum(map(math.log, shares)) / len(shares))
    table.rows.append(("geometric mean", "", "", "", "", f"{mean:.2f}"))
    return [table]


def _first_call(name: str, folder: str) -> list[float]:
    command = [sys.executable, "-c", PROGRAM, str(SCRIPTS / f"{name}.py")]
    environment = {**os.environ, "PYSTAGE_CACHE_DIR": folder}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [float(x) for x in done.stdout.split()]
