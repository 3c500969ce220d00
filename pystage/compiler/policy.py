"""Which code is the program's and which a library's, and what the compiler does with a library's: one table.

In: a function, a class, an object, a module's name or a file. Out: the `Package` that it belongs to. The rows of Python's
own library and of what pystage is built on (NumPy, JAX) stand here; that of any other package is declared by its bridge
(`bridges/`). What has no row is the user's: it is staged from its source, and guarded where it may change.
"""

from __future__ import annotations

import enum
import functools
import os
import sys
import sysconfig
from collections.abc import Iterable

from ..records import dataclass


class Policy(enum.Enum):
    """What becomes of a call of a Python function for which the compiler has no meaning of its own."""

    SOURCE = "staged from source"
    TRACED = "traced by JAX; staged from source where JAX cannot take the arguments"
    JAX = "traced by JAX"
    OPAQUE = "refused"


@dataclass(frozen=True, slots=True)
class Package:
    """A top-level package, by its name in imports.

    `constants`: an instance of one of its classes is a constant of the program. `fixed`: nobody changes its classes, and
    its callables run no code of the program by themselves. `plumbing` are files, as paths below the folder of packages,
    of which no message shows a line. `objects_changed` are the qualified names of exceptions by which it says, while JAX
    traces, that an object is changed; `of_one_trace` are those of classes, with their modules, whose objects it lets
    nobody change in another of JAX's traces than they were made in, and `individual` of classes whose objects it tells apart
    by name, so that the run chooses among none of them.
    """

    name: str
    policy: Policy = Policy.SOURCE
    constants: bool = False
    fixed: bool = False
    plumbing: tuple[str, ...] = ()
    objects_changed: frozenset[str] = frozenset()
    of_one_trace: frozenset[str] = frozenset()
    individual: frozenset[str] = frozenset()


USER = Package("")
"""Of all code that is no library's."""

_OBJECTS_OF_PYTHON = frozenset([
    "_thread", "abc", "contextlib", "functools", "itertools", "logging", "operator", "random", "re", "threading", "time",
    "typing", "warnings",
])  # fmt: skip
"""Modules of Python's own library whose objects are constants of the program."""

_TABLE: dict[str, Package] = {
    **{name: Package(name, constants=name in _OBJECTS_OF_PYTHON) for name in sys.stdlib_module_names},
    "builtins": Package("builtins", fixed=True),
    "numpy": Package("numpy", constants=True, fixed=True),
    "ml_dtypes": Package("ml_dtypes", constants=True, fixed=True),
    "jax": Package("jax", Policy.JAX, constants=True, fixed=True),
    "jaxlib": Package("jaxlib", Policy.JAX, constants=True, fixed=True),
}


def declare(package: Package) -> None:
    """Adds a row."""
    if package.name in _TABLE:
        raise TypeError(f"{package.name} has two rows")
    _TABLE[package.name] = package
    _package_of_module.cache_clear()


def packages() -> Iterable[Package]:
    """All rows, but for modules of Python's own library."""
    return [row for row in _TABLE.values() if row.name not in sys.stdlib_module_names]


def package_of_module(name: str) -> Package:
    """The row of a module, by its full name."""
    return _package_of_module(name)


@functools.cache
def _package_of_module(name: str) -> Package:
    row = _TABLE.get(name.partition(".")[0], USER)
    if row.policy in (Policy.SOURCE, Policy.OPAQUE) and not row.fixed:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and package_of_file(file) is None:
            return USER  # a module of the user's that has the name of a library's
    return row


def package_of(thing: object) -> Package:
    """The row of the module in which a function, a class, or the class of an object is defined."""
    module = getattr(thing, "__module__", None)
    if not isinstance(module, str):
        module = type(thing).__module__
    return _package_of_module(module)


@functools.cache
def is_individual(cls: type) -> bool:
    """True for a class whose objects its package tells apart by name."""
    return any(
        f"{base.__module__}.{base.__qualname__}" in package_of(base).individual for base in cls.__mro__
    )


def is_traced(thing: object) -> bool:
    """True for what is defined in JAX or in a package built on it: JAX can trace its functions and flatten its objects."""
    return package_of(thing).policy in (Policy.JAX, Policy.TRACED)


def is_built_on_jax(thing: object) -> bool:
    """True for what is defined in a package built on JAX."""
    return package_of(thing).policy is Policy.TRACED


def is_of_jax(thing: object) -> bool:
    """True for what is defined in JAX itself."""
    return package_of(thing).policy is Policy.JAX


def is_closed(function: object) -> bool:
    """True for a function whose source is never staged: only what the compiler declares of its package is."""
    return package_of(function).policy in (Policy.JAX, Policy.OPAQUE)


def is_library(thing: object) -> bool:
    """True for what is defined in a library that has a row."""
    return package_of(thing) is not USER


# ---------------------------------------------------------------- by file

_OWN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")


def _roots(*keys: str) -> tuple[str, ...]:
    found = [sysconfig.get_path(key) for key in keys]
    return tuple({os.path.join(path, "") for own in found for path in (own, os.path.realpath(own))})


@functools.cache
def _installed() -> tuple[str, ...]:
    """Where packages are installed."""
    return _roots("purelib", "platlib")


@functools.cache
def _standard() -> tuple[str, ...]:
    """Where Python's own library is."""
    return _roots("stdlib", "platstdlib")


@functools.lru_cache(maxsize=1024)
def package_of_file(file: str) -> str | None:
    """The library that a file belongs to, as the first part of its path below where libraries are; None for the user's."""
    for root in (*_installed(), *_standard()):
        if file.startswith(root):
            return file[len(root) :].split(os.sep)[0]
    return "<frozen>" if file.startswith("<frozen ") else None


def is_standard_file(file: str) -> bool:
    """True for a file of Python's own library."""
    return file.startswith(_standard()) and not file.startswith(_installed())


def is_own_file(file: str) -> bool:
    """True for a file of pystage."""
    return file.startswith(_OWN)


def is_library_file(file: str) -> bool:
    """True for a file of Python, of an installed package, or of pystage: none that the user has written."""
    return is_own_file(file) or package_of_file(file) is not None


def is_plumbing(file: str) -> bool:
    """True for a file of which no message shows a line: pystage's own, and what stands around a package's methods."""
    return is_own_file(file) or file.endswith(_plumbing(len(_TABLE)))


@functools.cache
def _plumbing(rows: int) -> tuple[str, ...]:
    return tuple([path.replace("/", os.sep) for row in _TABLE.values() for path in row.plumbing])


def short_path(file: str) -> str:
    """A file of a library as a path below where libraries are: `json/decoder.py`."""
    for root in (*_installed(), *_standard()):
        if file.startswith(root):
            return file[len(root) :]
    return file
