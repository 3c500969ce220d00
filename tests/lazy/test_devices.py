"""Lazy tensors on several devices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(("count", "name"), [(2, "two_devices.py"), (8, "eight_devices.py")])
def test_devices(count: int, name: str) -> None:
    environment = {**os.environ, "XLA_FLAGS": f"--xla_force_host_platform_device_count={count}"}
    script = Path(__file__).with_name(name)
    run = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, timeout=200
    )
    assert run.returncode == 0, run.stderr
