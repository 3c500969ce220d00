"""Lazy tensors on two devices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_two_devices() -> None:
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    script = Path(__file__).with_name("two_devices.py")
    run = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, timeout=200
    )
    assert run.returncode == 0, run.stderr
