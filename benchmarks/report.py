"""Writes what one run of the benchmarks gave into `docs/benchmarks.md`."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from pathlib import Path

import jax
import numpy as np

from .measuring import Table

PATH = Path(__file__).parent.parent / "docs" / "benchmarks.md"

_HEAD = """# Benchmarks

Measured by `make bench`, all in one run: {machine}. Times are for comparison within a table; ratios are medians of
interleaved pairs.

"""


def machine() -> str:
    """What was measured on."""
    device = jax.devices()[0]
    versions = f"Python {platform.python_version()}, JAX {jax.__version__}, NumPy {np.__version__}"
    return f"{_processor()}, {os.cpu_count()} cores, JAX device {device.device_kind}; {versions}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def write(tables: Iterable[Table], path: Path = PATH) -> None:
    """Writes the report."""
    path.write_text(_HEAD.format(machine=machine()) + "\n".join(table.markdown() for table in tables))
