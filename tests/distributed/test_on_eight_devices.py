"""Runs `eight_devices.py` in a process of its own with eight virtual devices: XLA is told so before it starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FLAG = "--xla_force_host_platform_device_count=8"


def test_on_eight_devices() -> None:
    environment = {
        **os.environ,
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {FLAG}",
        "JAX_PLATFORMS": "cpu",
    }
    environment.pop("PYTEST_XDIST_WORKER", None)
    tests = Path(__file__).with_name("eight_devices.py")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        str(tests),
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
