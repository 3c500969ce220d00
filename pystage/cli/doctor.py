"""`pystage doctor`: reports the machine, the settings of pystage and JAX, and whether they work; for bug reports.

Of the environment it shows only variables of pystage, JAX, XLA and the C library's memory, and none whose name says that
it is secret.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..compiler.bridges import BRIDGES
from ..config import config
from ..lazy.standard.creation import asarray
from ..records import dataclass
from ..staging import compile
from .quantities import bytes_text

_PACKAGES = ("pystage", "numpy", "jax", "jaxlib", "rich", "jinja2", "pygments")
_IF_THERE = (
    "jax-cuda12-plugin",
    "jax-cuda13-plugin",
    "libtpu",
    "jaxtyping",
    *[bridge.package.name for bridge in BRIDGES if bridge.tested],
)
_VARIABLES = ("PYSTAGE_", "JAX_", "XLA_", "MALLOC_")
_SECRET = re.compile(r"TOKEN|KEY|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)

Facts = dict[str, str]


@dataclass(frozen=True, slots=True)
class Check:
    """Something that was tried: whether it worked, and what it took or why it did not."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Report:
    """What doctor finds."""

    versions: Facts
    machine: Facts
    devices: Facts
    environment: Facts
    settings: Facts
    caches: Facts
    checks: tuple[Check, ...]

    @property
    def healthy(self) -> bool:
        """Whether all that was tried worked."""
        return all(check.passed for check in self.checks)

    def __str__(self) -> str:
        facts = {title: found for title, found in asdict(self).items() if title != "checks"}
        width = max([len(name) for found in facts.values() for name in found], default=0)
        lines: list[str] = []
        for title, found in facts.items():
            lines.append(title)
            lines += [f"  {name:<{width}}  {value}" for name, value in found.items()] or ["  none"]
        lines.append("checks")
        for check in self.checks:
            detail = check.detail.replace("\n", "\n      ")
            lines.append(f"  {'ok' if check.passed else 'FAILED':<6}  {check.name}: {detail}")
        return "\n".join(lines)


def add(commands: Any) -> None:
    """Declares the subcommand."""
    parser = commands.add_parser("doctor", help="what this machine has, and whether pystage works on it")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints the report."""
    report = examine()
    print(json.dumps(asdict(report), indent=2) if options.json else report)
    return 0 if report.healthy else 1


def examine() -> Report:
    """Looks at the machine and the settings, and tries what pystage does."""
    devices: Facts = {}
    checks = (
        _tried("devices", lambda: _look_at_devices(devices)),
        _tried("a compiled call", _staged_call),
        _tried("a call on lazy tensors", _lazy_call),
    )
    settings = {name: repr(value) for name, value in config.settings().items()}
    return Report(_versions(), _machine(), devices, _environment(), settings, _caches(), checks)


# ---------------------------------------------------------------- what is there


def _versions() -> Facts:
    found = {"python": f"{platform.python_version()} ({platform.python_implementation()})"}
    for name in _PACKAGES:
        found[name] = _version(name) or "not installed"
    for name in _IF_THERE:
        there = _version(name)
        if there:
            found[name] = there
    return found


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _machine() -> Facts:
    found = {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
    }
    if hasattr(os, "sched_getaffinity"):
        found["cores to use"] = str(len(os.sched_getaffinity(0)))
    if hasattr(os, "sysconf"):
        found["memory"] = bytes_text(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return found


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        named = re.search(r"^model name\s*: (.*)$", information.read_text(errors="replace"), re.MULTILINE)
        if named:
            return f"{named[1]} ({platform.machine()})"
    return platform.processor() or platform.machine()


def _look_at_devices(found: Facts) -> str:
    devices = jax.devices()
    for device in devices:
        memory = device.memory_stats() or {}
        parts = [device.device_kind]
        if "bytes_limit" in memory:
            parts.append(
                f"{bytes_text(memory.get('bytes_in_use', 0))} of {bytes_text(memory['bytes_limit'])} used"
            )
        found[f"{device.platform}:{device.id}"] = ", ".join(parts)
    return f"{len(devices)} of {jax.default_backend()}"


def _environment() -> Facts:
    return {
        name: "(set, not shown)" if _SECRET.search(name) else _without_home(value)
        for name, value in sorted(os.environ.items())
        if name.startswith(_VARIABLES)
    }


def _without_home(text: str) -> str:
    home = os.path.expanduser("~")
    return text.replace(home + os.sep, "~" + os.sep) if len(home) > 1 else text


def _caches() -> Facts:
    folder = jax.config.jax_compilation_cache_dir
    if not folder:
        return {"jax_compilation_cache_dir": "not set: programs are compiled anew in each process"}
    found = {
        "jax_compilation_cache_dir": _without_home(str(folder)),
        "jax_enable_compilation_cache": str(jax.config.jax_enable_compilation_cache),
        "jax_persistent_cache_min_compile_time_secs": str(
            jax.config.jax_persistent_cache_min_compile_time_secs
        ),
    }
    if Path(folder).is_dir():
        sizes = [file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()]
        found["files"] = f"{len(sizes)}, {bytes_text(sum(sizes))}"
    return found


# ---------------------------------------------------------------- what works


def _tried(name: str, attempt: Callable[[], str]) -> Check:
    """The outcome of an attempt: it gives what it took, and raises where something is wrong."""
    try:
        return Check(name, True, attempt())
    except Exception as error:
        return Check(name, False, _without_home("".join(traceback.format_exception(error)).rstrip()))


def _sample(x: Any, coefficients: Any) -> Any:
    """A polynomial by Horner's rule, and the same again where it is positive: a loop, a store, a branch."""
    total = np.zeros(x.shape)
    for i in range(len(coefficients)):
        total = total * x + coefficients[i]
    if total[0] > 0.0:
        total[0] += 1.0
    return total


def _arguments() -> tuple[Any, Any]:
    return np.linspace(0.5, 2.0, 1000), np.arange(1.0, 9.0)


def _staged_call() -> str:
    plain, plain_time = _timed(lambda: _sample(*_arguments()))
    compiled, compile_time = _timed(lambda: compile(_sample).lower(*_arguments()).compile())
    _compare(compiled(*_arguments()), plain)
    _, run_time = _timed(lambda: compiled(*_arguments()))
    return f"as plain Python gives it; compiled in {_ms(compile_time)}, a call {_ms(run_time)}, plain {_ms(plain_time)}"


def _lazy_call() -> str:
    plain, plain_time = _timed(lambda: _sample(*_arguments()))

    def lazily() -> Any:
        return np.asarray(_sample(*[asarray(argument) for argument in _arguments()]))

    found, first_time = _timed(lazily)
    _compare(found, plain)
    _, run_time = _timed(lazily)
    return f"as plain Python gives it; first {_ms(first_time)}, then {_ms(run_time)}, plain {_ms(plain_time)}"


def _compare(found: Any, wanted: Any) -> None:
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        raise RuntimeError(f"{found.dtype}{found.shape} came back, not {wanted.dtype}{wanted.shape}")
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms"
