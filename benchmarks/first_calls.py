"""What decorating whole programs costs: the time of so many calls of each script of `examples/scripts`, in fresh processes.

Each tier starts after JAX has been imported and has run something, as in a process that uses arrays already.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

from .measuring import Table

SCRIPTS = Path(__file__).parents[1] / "examples" / "scripts"
CALLS = (1, 3, 10, 30)
TIERS = ("plain", "auto", "compiled")
LONGEST = 120
"""Seconds after which a process is ended; what it has not done counts as that long."""

PROGRAM = """import importlib.util, io, json, sys, time, warnings
import jax, jax.numpy, numpy as np
(jax.numpy.ones(3) + 1).block_until_ready()
import pystage
warnings.simplefilter("ignore")
path, tier, counts = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
spec = importlib.util.spec_from_file_location("program", path)
module = sys.modules["program"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
function = pystage.compile(module.main, tier=tier)
seconds, done, out = 0.0, 0, sys.stdout
sys.stdout = io.StringIO()
for count in counts:
    while done < count:
        args = module.inputs(done % 2)
        began = time.perf_counter()
        try:
            function(*args)
        except Exception:
            pass
        seconds += time.perf_counter() - began
        done += 1
    print(json.dumps(seconds), file=out, flush=True)
"""


def measure() -> list[Table]:
    """Totals by the number of calls, as geometric means of their ratios to the plain run."""
    scripts = sorted(SCRIPTS.glob("*.py"))
    if chosen := os.environ.get("FIRST_CALLS"):
        scripts = scripts[:: int(chosen)]
    found = {(path.stem, tier): _totals(path, tier) for path in scripts for tier in TIERS}
    text = (
        f"Wall time of so many calls of {len(scripts)} scripts, beside that of the plain run: the geometric mean, and the "
        "largest excess over 2.2 times the plain run, in seconds. Aims of the default tier: 1.3, 1.1 at ten calls, and no "
        "excess over 0.3 s in the first call."
    )
    columns = [f"{n} call{'s' if n > 1 else ''}" for n in CALLS]
    table = Table("First calls", text, ("tier", *columns, "largest excess of the first, s"))
    for tier in TIERS[1:]:
        ratios = []
        for i in range(len(CALLS)):
            each = [math.log(found[p.stem, tier][i] / found[p.stem, "plain"][i]) for p in scripts]
            ratios.append(math.exp(sum(each) / len(each)))
        excess = max(found[p.stem, tier][0] - 2.2 * found[p.stem, "plain"][0] for p in scripts)
        table.rows.append((tier, *[f"{ratio:.2f}" for ratio in ratios], f"{excess:.2f}"))
    return [table]


def _totals(path: Path, tier: str) -> list[float]:
    command = [sys.executable, "-c", PROGRAM, str(path), tier, json.dumps(CALLS)]
    environment = {key: value for key, value in os.environ.items() if key != "PYSTAGE_TIER"}
    try:
        output = subprocess.run(
            command, capture_output=True, text=True, timeout=LONGEST, check=False, env=environment
        ).stdout
    except subprocess.TimeoutExpired as expired:
        output = (expired.stdout or b"").decode()
    found = [float(line) for line in output.splitlines()]
    return found + [float(LONGEST)] * (len(CALLS) - len(found))
