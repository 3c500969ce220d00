"""What `import pystage` costs beside `import jax.numpy`: processor time of a fresh Python, compiled bytecode at hand."""

from __future__ import annotations

import resource
import subprocess
import sys

from .measuring import Table, in_pairs

COUNT = 15
PROGRAMS = {
    "import pystage": "import pystage",
    "import pystage, a function decorated": "import pystage\n@pystage.compile\ndef f(x): return x",
}


def measure() -> list[Table]:
    """The table of the ratios."""
    text = (
        f"User and system time of a process, the median of {COUNT} pairs, and the ratio to `import jax.numpy` with its "
        "quartiles. The compiler, lazy tensors and explanations are loaded when they are first needed. Aim: 1.35 for the "
        "first."
    )
    table = Table("Importing", text, ("program", "seconds", "of JAX's"))
    for title, program in PROGRAMS.items():
        pairs = in_pairs(
            lambda program=program: _run(program), lambda: _run("import jax.numpy"), COUNT, clock=_spent
        )
        table.rows.append((title, f"{pairs.medians[0]:.2f}", pairs.ratio_text()))
    return [table]


def _run(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True)


def _spent() -> float:
    """The processor time of all processes that were run, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
