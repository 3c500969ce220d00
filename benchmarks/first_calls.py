"""What decorating whole programs costs: the time of so many calls of each, in fresh processes, beside the plain run.

The programs are `examples/scripts`, `examples/programs` and those of the folder that `FIRST_CALLS_ALSO` names, each
`FIRST_CALLS`-th of them. Each process starts to count after JAX has run something, as in one that uses arrays already.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .measuring import Table

EXAMPLES = Path(__file__).parents[1] / "examples"
CALLS = (1, 3, 10, 100, 1000)
WAYS = ("plain", "auto", "compiled", "second", "numba")
"""`second`: compiled in a second process, which finds what the first one has kept."""
NAMES = {
    "auto": "by default",
    "compiled": '`tier="compiled"`',
    "second": "the same, second process",
    "numba": "Numba",
    "best": 'the better of plain and `tier="compiled"`, if it were known beforehand',
}
PATIENCE = {way: 40.0 if way == "auto" else 12.0 for way in WAYS}
"""Seconds of calls after which the rest is extrapolated by the median of the last ten; by default programs begin later."""
LONGEST = 120
"""Seconds after which a process is ended; what it has not done counts as that long."""
SLOWER = 1.15

PROGRAM = """import importlib.util, io, json, statistics, sys, time, warnings
import jax, jax.numpy, numpy as np
(jax.numpy.ones(3) + 1).block_until_ready()
import pystage
warnings.simplefilter("ignore")
path, way, counts, patience = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), float(sys.argv[4])
sys.path.insert(0, path.rpartition("/")[0])
spec = importlib.util.spec_from_file_location("program", path)
module = sys.modules["program"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
if hasattr(module, "PROGRAMS"):
    plain, make = module.PROGRAMS[-1]
    inputs = lambda seed: make()
else:
    plain, inputs = getattr(module, "main", None) or module.entry, module.inputs
if way == "numba":
    import numba
    function = numba.njit(plain)
else:
    function = pystage.compile(plain, tier="compiled" if way == "second" else way)
seconds, done, latest, out = 0.0, 0, [], sys.stdout
sys.stdout = io.StringIO()
for count in counts:
    while done < count and seconds < patience:
        args = inputs(done % 2)
        began = time.perf_counter()
        try:
            function(*args)
        except Exception as error:
            if way == "numba":
                raise SystemExit(1) from error
        latest.append(time.perf_counter() - began)
        seconds += latest[-1]
        done += 1
    rest = (count - done) * statistics.median(latest[-10:])
    print(json.dumps(seconds + rest), file=out, flush=True)
print(json.dumps(statistics.median(latest[-10:])), file=out, flush=True)
"""


def measure() -> list[Table]:
    """Totals by the number of calls, as geometric means of their ratios to the plain run, and later calls by themselves."""
    every = int(os.environ.get("FIRST_CALLS", "1"))
    paths = _programs()[::every]
    ways = [way for way in WAYS if way != "numba" or importlib.util.find_spec("numba")]
    found = {path: _times(path, ways) for path in paths}
    text = (
        f"Wall time of so many calls of {len(paths)} programs, beside that of the plain run: the geometric mean; the "
        "largest excess of the first call over 2.2 times the plain one, in seconds; and, of calls after the others, the "
        f"largest ratio and how many are above {SLOWER}. What comes after {PATIENCE['plain']:g} s (by default: "
        f"{PATIENCE['auto']:g} s) is extrapolated. Aims of the default tier: 1.3, 1.1 at ten calls, 0.6 at a hundred, "
        f"0.25 at a thousand, no excess over 0.3 s, no later call above {SLOWER}."
    )
    columns = [f"{n:,} call{'s' if n > 1 else ''}" for n in CALLS]
    heads = ("", "programs", *columns, "largest excess, s", "largest later", f"above {SLOWER}")
    table = Table("First calls", text, heads)
    for each in found.values():
        if "plain" in each and "compiled" in each:
            each["best"] = [min(both) for both in zip(each["plain"], each["compiled"], strict=True)]
    for way in [*ways[1:], "best"]:
        times = [each for each in found.values() if way in each]
        if times:
            table.rows.append(_row(way, times))
    return [table]


def _programs() -> list[Path]:
    folders = [EXAMPLES / "scripts", EXAMPLES / "programs"]
    if also := os.environ.get("FIRST_CALLS_ALSO"):
        folders.append(Path(also))
    return [path for folder in folders for path in sorted(folder.glob("[!_]*.py"))]


def _row(way: str, times: Sequence[Mapping[str, list[float]]]) -> tuple[str, ...]:
    means = [_mean([each[way][i] / each["plain"][i] for each in times]) for i in range(len(CALLS))]
    excess = max(each[way][0] - 2.2 * each["plain"][0] for each in times)
    later = [each[way][-1] / each["plain"][-1] for each in times]
    slower = sum(ratio > SLOWER for ratio in later)
    numbers = [f"{ratio:.2f}" for ratio in means]
    return (NAMES[way], str(len(times)), *numbers, f"{excess:.2f}", f"{max(later):.2f}", str(slower))


def _mean(ratios: Iterable[float]) -> float:
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logarithms) / len(logarithms))


def _times(path: Path, ways: Sequence[str]) -> dict[str, list[float]]:
    """For each way the totals by the number of calls, and one later call; nothing where Numba does not compile it."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for way in ways:
            times = _run(path, way, folder)
            if way != "numba" or len(times) == len(CALLS) + 1:
                missing = len(CALLS) + 1 - len(times)
                found[way] = times + [float(LONGEST)] * missing
    return found


def _run(path: Path, way: str, folder: str) -> list[float]:
    command = [sys.executable, "-c", PROGRAM, str(path), way, json.dumps(CALLS), str(PATIENCE[way])]
    left_out = {"PYSTAGE_TIER", "PYTHONDONTWRITEBYTECODE"}  # an installed package has its bytecode
    environment = {key: value for key, value in os.environ.items() if key not in left_out}
    if way in ("compiled", "second"):
        environment["PYSTAGE_CACHE_DIR"] = folder
    try:
        output = subprocess.run(
            command, capture_output=True, text=True, timeout=LONGEST, check=False, env=environment
        ).stdout
    except subprocess.TimeoutExpired as expired:
        output = (expired.stdout or b"").decode()
    return [float(line) for line in output.splitlines()]
