"""What `import pystage` costs beside `import jax.numpy`: processor time of a fresh Python, compiled bytecode at hand."""

from __future__ import annotations

import resource
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


def measure() -> list[Table]:
    """The table of the ratios."""
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
    return [table]


def _run(*program: str) -> None:
    subprocess.run([sys.executable, *program], check=True)


def _spent() -> float:
    """The processor time of all processes that were run, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
