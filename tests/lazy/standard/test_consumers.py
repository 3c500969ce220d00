"""Libraries that work on any array of the standard work on lazy tensors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).with_name("consumers.py")


def test_programs_of_scikit_learn_scipy_and_array_api_compat() -> None:
    settings = {**os.environ, "SCIPY_ARRAY_API": "1"}
    made = subprocess.run(
        [sys.executable, str(PROGRAMS)],
        env=settings,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout) == {}
