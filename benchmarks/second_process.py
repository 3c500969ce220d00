"""What the next process saves: the first call of whole programs in a process, in the next one with the same cache folder,
and in one that loads what the first has exported.
"""

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

_BEGIN = """import importlib.util, sys, time, warnings
import jax, jax.numpy, numpy as np
(jax.numpy.ones(3) + 1).block_until_ready()
import pystage
warnings.simplefilter("ignore")
spec = importlib.util.spec_from_file_location("program", sys.argv[1])
module = sys.modules["program"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
function = pystage.compile(module.main, tier="compiled", fallback="error")
args = module.inputs(0)
"""
PROGRAM = f"""{_BEGIN}
began, worked = time.perf_counter(), time.process_time()
function(*args)
print(time.perf_counter() - began, time.process_time() - worked)
"""
EXPORT = f"""{_BEGIN}
import copy
from pathlib import Path
function(*copy.deepcopy(args))
began = time.perf_counter()
data = function.export(*args)
print(len(data), time.perf_counter() - began)
Path(sys.argv[2]).write_bytes(data)
"""
LOAD = f"""{_BEGIN}
import pystage.runtime.exporting
began = time.perf_counter()
loaded = pystage.load(sys.argv[2])
read = time.perf_counter()
loaded(*args)
print(read - began, time.perf_counter() - read)
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
    return [table, _exported()]


def _exported() -> Table:
    text = (
        "The same programs exported (`export`), and loaded in another process without a cache (`pystage.load`). Kilobytes, "
        "and seconds by the clock; the first call there is mostly XLA's."
    )
    table = Table("Exported programs", text, ("script", "kB", "export", "load", "first call"))
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            file = str(Path(folder) / name)
            size, export = _run(EXPORT, name, file)
            load, call = _run(LOAD, name, file)
            table.rows.append((name, f"{size / 1000:.1f}", f"{export:.2f}", f"{load:.3f}", f"{call:.2f}"))
    return table


def _first_call(name: str, folder: str) -> list[float]:
    return _run(PROGRAM, name, environment={**os.environ, "PYSTAGE_CACHE_DIR": folder})


def _run(program: str, name: str, *args: str, environment: dict[str, str] | None = None) -> list[float]:
    command = [sys.executable, "-c", program, str(SCRIPTS / f"{name}.py"), *args]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [float(x) for x in done.stdout.splitlines()[-1].split()]
