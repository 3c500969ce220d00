"""Keys of programs in the cache: what a program depends on besides its guards.

In: a request for a program. Out: a digest of the function, of the specs of its arguments, of the settings of pystage, JAX
and NumPy that change programs, and of the versions of all that makes them; that of pystage is a digest of its source.
What the program read of the environment is no part of the key, but stands in its guards.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ...autocasting import product_type
from ...compiler.ops.foreign.named_axes import CURRENT
from ...compiler.pipeline import Request
from ...compiler.policy import USER, package_of, packages
from ...compiler.values.boundary import LeafSpec, RowsSpec, Spec, StaticSpec, StructureSpec
from ...config import config
from .encoding import Encoder, NotEncodable
from .names import OutsideNames

_WITHOUT_EFFECT = frozenset({"cache_dir", "tier", "fallback", "max_programs", "kept_memory"})
"""Settings of pystage that change no program."""


def digest(value: Any) -> str:
    """A short text for a value of JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


@functools.cache
def process_key() -> str:
    """A digest of the versions and of the machine, for which programs and executables are made."""
    versions = [(name, _version(name)) for name in sorted([p.name for p in packages()])]
    device = jax.devices()[0]
    machine = (
        platform.machine(),
        _processor(),
        jax.default_backend(),
        device.device_kind,
        len(jax.devices()),
    )
    flags = [os.environ.get(name, "") for name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS")]
    return digest([source_digest(), sys.version, sys.flags.optimize, versions, machine, flags])


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(sys.modules.get(name), "__version__", ""))


@functools.cache
def source_digest() -> str:
    """A digest of the source of pystage."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parents[2].rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def _processor() -> str:
    """The instruction set extensions of this processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return "|".join(sorted({line for line in lines if line.startswith(("flags", "model name", "Features"))}))


def _settings() -> list[str]:
    """The settings that a program may depend on."""
    if CURRENT.axes.axes or not jax.sharding.get_abstract_mesh().empty:
        raise NotEncodable("a mesh")
    own = {name: value for name, value in config.settings().items() if name not in _WITHOUT_EFFECT}
    theirs = {name: value for name, value in jax.config.values.items() if "cache" not in name}
    numpy = np.geterr(), np.get_printoptions()
    return [repr(x) for x in (own, sorted(theirs.items(), key=repr), numpy, product_type())]


def request_key(request: Request, x64: bool) -> tuple[str, OutsideNames]:
    """The key of a request, and the names for its function and arguments. `NotEncodable` if it has none."""
    names = OutsideNames()
    met = [request.fn, *_met((*request.args, *request.kwargs.values()))]
    for value in met:
        names.meet(value)
    encoder = Encoder(names)
    rows = encoder.all([request.name, request.span, request.args, dict(request.kwargs)])
    fingerprints = [names.fingerprints.of(value) for value in met]
    flags = [bool(x64), bool(jax.config.jax_enable_x64)]
    return digest([rows, encoder.rows, fingerprints, names.pattern, flags, _settings()]), names


def _met(specs: Iterable[Spec]) -> list[Any]:
    """The user classes and other user objects in specs, in order."""
    found: list[Any] = []
    for spec in specs:
        match spec:
            case LeafSpec():
                pass
            case StaticSpec(value=value):
                if callable(value) and package_of(value) is USER:
                    found.append(value)
            case StructureSpec(cls=cls, children=children):
                if package_of(cls) is USER:
                    found.append(cls)
                found += _met(children)
            case RowsSpec(element=element):
                found += _met([element])
    return found
