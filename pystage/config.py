"""What a user can set for all of pystage: `pystage.config`."""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path


def _memory() -> int:
    """How many bytes of memory the machine has; 0 if it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 0


FALLBACKS = ("lazy", "error", "python")
"""What can happen to a call that cannot be staged."""
TIERS = ("auto", "compiled", "plain")
"""How calls run: plainly until compiling pays, as programs from the first on, or never as programs."""
TOPICS = ("compiles", "fallbacks", "barriers", "cache", "phases")
"""What `PYSTAGE_LOG` can ask for."""
VARIABLES: dict[str, tuple[str, ...]] = {
    "PYSTAGE_AUTOCAST": (),
    "PYSTAGE_CACHE_DIR": (),
    "PYSTAGE_FALLBACK": (),
    "PYSTAGE_LOG": TOPICS,
    "PYSTAGE_TIER": (),
    "PYSTAGE_TRACEBACK": ("full",),
}
"""The variables of the environment, and the words of those whose other words do nothing."""

_NAMES = (
    "check_bounds",
    "residual_bytes",
    "max_programs",
    "capacity_bytes",
    "program_limit",
    "compiler_options",
    "kept_memory",
    "fallback",
    "tier",
    "cache_dir",
)


class Config:
    """Settings of pystage, read when a function is compiled, and compared at each call that depends on them.

    `check_bounds`: whether an index of an ndarray, a list or a tuple that is computed at run time, and that is
    not certainly inside, is checked. With False, such an index that is outside reads or writes at the edge,
    where the plain run raises IndexError. TypeError for a value that is not a bool.

    `residual_bytes`: how much memory the residuals of one loop with a known trip count may take, over
    all trips (a gibibyte); past it the loop saves checkpoints and its pullback recomputes from these, as for loops
    with an unknown trip count. A Jacobian takes as many directions at once as fit into it. TypeError for a value that
    is not an int, ValueError below 0.

    `max_programs`: how many programs one function keeps (256), for so many kinds and values of arguments. Past it
    those go that have not been called for the longest, and are compiled again when they are needed. TypeError for a
    value that is not an int, ValueError below 1.

    `capacity_bytes`: how much memory the capacities of one program may take, of lists and arrays whose size has no known
    bound (a quarter of the machine's memory, at least a gibibyte). A call that needs more raises MemoryError. TypeError
    for a value that is not an int, ValueError below 1.

    `compiler_options`: the options that XLA compiles programs with, by name, as `jax.jit` takes them, for programs
    compiled from then on. With None, which it is unless it was set, pystage chooses (on CPUs, see
    `docs/performance.md`; what `XLA_FLAGS` sets stays as it is); with `{}` they are XLA's own. TypeError for what is
    no mapping of strings.

    `kept_memory`: memory for large arrays, in pieces of up to so many bytes, stays in the process when it is freed
    (Linux with glibc, CPUs; a sixteenth of the machine's memory, at most a gibibyte). It is read when a function is
    staged, and holds for all of the process. With 0, set before the first function is staged, the C library is
    left as it is; it is also where the environment sets `MALLOC_…` or `GLIBC_TUNABLES`. TypeError for a value that is
    not an int, ValueError below 0 or from 2**31 on.

    `program_limit`: how many seconds XLA may take to compile a program, as it is estimated before (20); None for any
    number. Past it the program is refused (PS404). TypeError for a value that is neither a number nor None, ValueError
    for one that is not positive.

    `fallback`: what happens to a call that cannot be staged, of a function that was compiled without saying so:
    `"lazy"` (which it is unless it was set), `"error"` or `"python"`, as in `pystage.compile`. ValueError for others.

    `tier`: when a function that was compiled without saying so is compiled: `"auto"` (which it is unless it was set),
    `"compiled"` or `"plain"`, as in `pystage.compile`. ValueError for others.

    `cache_dir`: the folder in which programs are kept for other processes (`docs/cache.md`), `"auto"` for one among the
    user's caches; None for no folder, which it is unless the environment variable `PYSTAGE_CACHE_DIR` names one.
    TypeError for what is no path.
    """

    def __init__(self) -> None:
        self._compiler_options: dict[str, bool | int | float | str] | None = None
        self._kept_memory = min(1 << 30, _memory() // 16)
        self._check_bounds = True
        self._residual_bytes = 1 << 30
        self._max_programs = 256
        self._capacity_bytes = max(1 << 30, _memory() // 4)
        self._program_limit: float | None = 20.0
        self._fallback = "lazy"
        self._tier = "auto"
        self._cache_dir: str | None = os.environ.get("PYSTAGE_CACHE_DIR") or None

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_") and name not in _NAMES:
            raise AttributeError(f"pystage.config has no setting {name!r}{_nearest(name, _NAMES)}")
        object.__setattr__(self, name, value)

    @property
    def check_bounds(self) -> bool:
        """Whether computed indices are checked; True unless it was set."""
        return self._check_bounds

    @check_bounds.setter
    def check_bounds(self, value: bool) -> None:
        if type(value) is not bool:
            raise TypeError(f"check_bounds must be True or False, not {value!r}")
        self._check_bounds = value

    @property
    def residual_bytes(self) -> int:
        """How many bytes the residuals of one loop may take; 2**30 unless it was set."""
        return self._residual_bytes

    @residual_bytes.setter
    def residual_bytes(self, value: int) -> None:
        if type(value) is not int:
            raise TypeError(f"residual_bytes must be an int, not {value!r}")
        if value < 0:
            raise ValueError(f"residual_bytes must not be negative: {value}")
        self._residual_bytes = value

    @property
    def max_programs(self) -> int:
        """How many programs one function keeps; 256 unless it was set."""
        return self._max_programs

    @max_programs.setter
    def max_programs(self, value: int) -> None:
        if type(value) is not int:
            raise TypeError(f"max_programs must be an int, not {value!r}")
        if value < 1:
            raise ValueError(f"max_programs must be at least 1: {value}")
        self._max_programs = value

    @property
    def capacity_bytes(self) -> int:
        """How many bytes the capacities of one program may take."""
        return self._capacity_bytes

    @capacity_bytes.setter
    def capacity_bytes(self, value: int) -> None:
        if type(value) is not int:
            raise TypeError(f"capacity_bytes must be an int, not {value!r}")
        if value < 1:
            raise ValueError(f"capacity_bytes must be at least 1: {value}")
        self._capacity_bytes = value

    @property
    def kept_memory(self) -> int:
        """The size in bytes of the largest piece of memory that stays in the process when it is freed."""
        return self._kept_memory

    @kept_memory.setter
    def kept_memory(self, value: int) -> None:
        if type(value) is not int:
            raise TypeError(f"kept_memory must be an int, not {value!r}")
        if not 0 <= value < 1 << 31:
            raise ValueError(f"kept_memory must be at least 0 and below 2**31: {value}")
        self._kept_memory = value

    @property
    def compiler_options(self) -> Mapping[str, bool | int | float | str] | None:
        """XLA's options for all programs; None, for those that pystage chooses, unless it was set."""
        return self._compiler_options

    @compiler_options.setter
    def compiler_options(self, value: Mapping[str, bool | int | float | str] | None) -> None:
        if value is not None and not (isinstance(value, Mapping) and all(type(k) is str for k in value)):
            raise TypeError(f"compiler_options must be None or options by their names, not {value!r}")
        self._compiler_options = None if value is None else dict(value)

    @property
    def program_limit(self) -> float | None:
        """How many seconds XLA may take for a program, by estimate; 20 unless it was set, None for no limit."""
        return self._program_limit

    @program_limit.setter
    def program_limit(self, value: float | None) -> None:
        if value is not None and type(value) not in (int, float):
            raise TypeError(f"program_limit must be a number or None, not {value!r}")
        if value is not None and not value > 0:
            raise ValueError(f"program_limit must be positive: {value}")
        self._program_limit = value

    @property
    def fallback(self) -> str:
        """What happens to a call that cannot be staged; "lazy" unless it was set."""
        return self._fallback

    @fallback.setter
    def fallback(self, value: str) -> None:
        if value not in FALLBACKS:
            raise ValueError(f"fallback must be one of {', '.join(map(repr, FALLBACKS))}, not {value!r}")
        self._fallback = value

    @property
    def tier(self) -> str:
        """When functions are compiled; "auto" unless it was set."""
        return self._tier

    @tier.setter
    def tier(self, value: str) -> None:
        if value not in TIERS:
            raise ValueError(f"tier must be one of {', '.join(map(repr, TIERS))}, not {value!r}")
        self._tier = value

    @property
    def cache_dir(self) -> str | None:
        """The folder in which programs are kept for other processes; None for none."""
        return self._cache_dir

    @cache_dir.setter
    def cache_dir(self, value: str | Path | None) -> None:
        if value is not None and not isinstance(value, str | Path):
            raise TypeError(f"cache_dir must be a path, 'auto' or None, not {value!r}")
        self._cache_dir = None if value is None else str(value)

    def settings(self) -> dict[str, object]:
        """Every setting by its name."""
        return {name: getattr(self, name) for name in _NAMES}

    def __repr__(self) -> str:
        return f"<pystage.config {' '.join(f'{name}={value}' for name, value in self.settings().items())}>"


def _nearest(word: str, words: Iterable[str]) -> str:
    """What may have been meant, in words."""
    found = difflib.get_close_matches(word, words, 1, 0.8)
    return f"; did you mean {found[0]!r}?" if found else ""


def misspelt(environment: Mapping[str, str]) -> Iterator[str]:
    """Says of each variable that does nothing, because its name or a word in it is misspelt, what may have been meant."""
    for name, value in environment.items():
        if name not in VARIABLES:
            if name.startswith("PYSTAGE_") and (meant := _nearest(name, VARIABLES)):
                yield f"the environment variable {name} does nothing{meant}"
        elif words := VARIABLES[name]:
            for word in filter(None, map(str.strip, value.split(","))):
                if word not in words:
                    yield f"{word!r} in {name} does nothing (it takes {', '.join(words)}){_nearest(word, words)}"


config = Config()
"""The settings; there is one of them."""
for _text in misspelt(os.environ):
    warnings.warn(_text, stacklevel=2)
