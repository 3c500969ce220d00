"""What `import pystage` and a first call cost beside `import jax.numpy`: processor time of a fresh Python.

Compiled bytecode is at hand. What a process waits for before its first result is timed in the process itself, from the
end of `import jax.numpy`, since the import takes longer than that and varies more.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from .measuring import Table, in_pairs

COUNT = 15
PROGRAMS = {
    "import pystage": "import pystage",
    "import pystage, a function decorated": "import pystage\n@pystage.compile\ndef f(x): return x",
    "the same, and called": "import pystage\n@pystage.compile\ndef f(x): return x * 2.0\nf(1.0)",
}

START = """import os
import jax, jax.numpy, numpy as np
begun = os.times()
{program}
ended = os.times()
print(ended.user + ended.system - begun.user - begun.system)
"""
FIRST_RESULTS = {
    "jax.jit": "jax.jit(lambda x: x * 2 + 1)(np.ones(3)).block_until_ready()",
    "pystage": "import pystage\npystage.compile(lambda x: x * 2 + 1)(np.ones(3))",
}
BEFORE = 0.98, 1.17
"""The least and the median of pystage's in November 2026, when libcst parsed and classes were generated at import."""


def measure() -> list[Table]:
    """The ratios of whole processes, and what the first result takes."""
    return [_imports(), _first_results()]


def _first_results() -> Table:
    text = (
        "User and system time from the end of `import jax.numpy` to the first result of `lambda x: x * 2 + 1` on three "
        f"numbers, {COUNT} fresh processes of each in turn. pystage's is from before it is imported. Aim: 0.45."
    )
    table = Table("Starting", text, ("", "least, s", "median, s"))
    times: dict[str, list[float]] = {title: [] for title in FIRST_RESULTS}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        for _ in range(COUNT):
            for title, program in FIRST_RESULTS.items():
                file.write_text(START.format(program=program))
                run = subprocess.run([sys.executable, str(file)], check=True, capture_output=True, text=True)
                times[title].append(float(run.stdout))
    rows = {title: (min(each), statistics.median(each)) for title, each in times.items()}
    rows["pystage, when libcst parsed and classes were generated at import"] = BEFORE
    table.rows.extend((title, f"{least:.2f}", f"{median:.2f}") for title, (least, median) in rows.items())
    return table


def _imports() -> Table:
    text = (
        f"User and system time of a process, the median of {COUNT} pairs, and the ratio to `import jax.numpy` with its "
        "quartiles. The compiler comes with the first call of a function, lazy tensors and explanations when they are "
        "first needed. Aim: 1.35 for the first."
    )
    table = Table("Importing", text, ("program", "seconds", "of JAX's"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        for title, program in PROGRAMS.items():
            file.write_text(program)
            pairs = in_pairs(
                lambda: _run(str(file)), lambda: _run("-c", "import jax.numpy"), COUNT, clock=_spent
            )
            table.rows.append((title, f"{pairs.medians[0]:.2f}", pairs.ratio_text()))
    return table


def _run(*program: str) -> None:
    subprocess.run([sys.executable, *program], check=True)


def _spent() -> float:
    """The processor time of all processes that were run, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
