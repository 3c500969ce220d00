"""Running the command as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def pystage(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """What `pystage ARGUMENTS` gives: what it prints, and the exit status. `options` are those of a process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 120, **options}
    return subprocess.run([sys.executable, "-m", "pystage", *arguments], env=environment, **given)
