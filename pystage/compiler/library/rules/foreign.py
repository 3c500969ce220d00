"""Advice for refused callables of Python's library and of packages with a bridge.

In: the names under which a user may know a callable or a class. Out: its `Advice`. The table is data: one row per module,
class or function, of which the longest match applies.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Advice(NamedTuple):
    """Why a call is refused, and what to write instead.

    `whole`: nothing of it is staged, whatever its source says. `aside`: nothing that the function computes needs it.
    """

    why: str
    instead: str
    whole: bool = False
    aside: bool = False


_CLOCK = "a compiled program computes from its arguments alone, and sees no clock"
_MEASURE = "measure around the call of the staged function, or pass the time in as an argument"
_OUTSIDE = "a compiled program reaches no files, processes or networks"
_HOST = "threads and processes belong to the interpreter, not to a compiled program"
_TEXT = "it works on text, and a compiled program computes with numbers"
_OBJECTS = "its numbers are Python objects, which a compiled program does not have"
_STATE = "it asks about the interpreter, and the compiled program runs outside of it"
_FRAME = "it is a dict with methods of its own, which pystage does not stage"
_CONTAINER = "it is written in C, where pystage sees no source"

TABLE: dict[str, Advice] = {
    # -- random numbers
    "random": Advice(
        "Python's own generator keeps its state outside of the program",
        "let the caller pass `rng = np.random.default_rng()`, and draw with it: `rng.random()`, `rng.integers(…)`, "
        "`rng.normal()`; one that is made in the function draws the same in every call. Or use `jax.random` and a key",
        True,
    ),
    "random.choice": Advice(
        "Python's own generator keeps its state outside of the program",
        "draw an index, `xs[rng.integers(len(xs))]`; let the caller pass the generator, `rng = np.random.default_rng()`",
        True,
    ),
    "random.shuffle": Advice(
        "Python's own generator keeps its state outside of the program",
        "use `rng.permutation(x)` of an array, with a generator that the caller passes: `rng = np.random.default_rng()`",
        True,
    ),
    "random.seed": Advice(
        "Python's own generator keeps its state outside of the program",
        "make a generator with the seed outside, `rng = np.random.default_rng(seed)`, pass it, and draw from it",
        True,
    ),
    "secrets": Advice("its numbers come from the operating system", "draw with `np.random.default_rng()`"),
    "uuid": Advice("its numbers come from the operating system", "make it before the call, outside"),
    # -- time
    "time": Advice(_CLOCK, _MEASURE),
    "time.sleep": Advice(
        "a compiled program does not wait", "sleep outside, before or after the call", aside=True
    ),
    "timeit": Advice(_CLOCK, "time the calls of the staged function from outside"),
    "datetime": Advice(
        "dates are Python objects, and a program computes with numbers",
        "make dates outside, and pass days or seconds in as numbers",
    ),
    "datetime.datetime.now": Advice(_CLOCK, _MEASURE),
    "calendar": Advice("dates are Python objects", "compute with days as integers, or outside"),
    # -- files, input and output
    "open": Advice(
        _OUTSIDE, "read the file before the call and pass in what it holds; return what is to be written"
    ),
    "input": Advice("a compiled program cannot ask the user", "ask before the call, and pass the answer in"),
    "io": Advice(_OUTSIDE, "do it around the call; return the arrays that are to be written"),
    "os": Advice(_OUTSIDE, "ask the operating system before the call, and pass the answer in"),
    "os.environ": Advice(
        "the environment may change from call to call", "read it at module level into a variable, and use that"
    ),
    "os.getenv": Advice(
        "the environment may change from call to call", "read it at module level into a variable, and use that"
    ),
    "os.path": Advice(_OUTSIDE, "ask for files before the call, and pass in what was found"),
    "pathlib": Advice(_OUTSIDE, "work on paths before the call, and pass in what was found"),
    "shutil": Advice(_OUTSIDE, "do it before or after the call"),
    "tempfile": Advice(_OUTSIDE, "do it before or after the call"),
    "glob": Advice(_OUTSIDE, "list the files before the call"),
    "csv": Advice(_OUTSIDE, "read the rows before the call, as with `np.loadtxt`, and pass the array in"),
    "sqlite3": Advice(_OUTSIDE, "ask the database before the call, and pass the numbers in"),
    "pickle": Advice(_OUTSIDE, "load before the call, and save what the call returns", True),
    "socket": Advice(_OUTSIDE, "receive before the call, and send what it returns", True),
    "urllib": Advice(_OUTSIDE, "fetch before the call, and pass the data in", True),
    "http": Advice(_OUTSIDE, "fetch before the call, and pass the data in", True),
    "requests": Advice(_OUTSIDE, "fetch before the call, and pass the data in", True),
    "subprocess": Advice(_OUTSIDE, "run the command before the call, and pass in what it gives", True),
    # -- classes of NumPy
    "numpy.ma": Advice(
        "a masked array is an object of a class of its own",
        "keep the mask in an array beside the numbers: `np.where(mask, x, 0)`, `np.mean(x, where=mask)`",
        whole=True,
    ),
    "numpy.poly1d": Advice(
        "a polynomial is an object of a class of its own",
        "compute with its coefficients: `np.polyval(p, x)`, `np.polyder(p)`, `np.polymul(p, q)`",
    ),
    "numpy.matrix": Advice(
        "a matrix is an ndarray of a class of its own", "use a 2-D array: `np.array([[…]])`, and `@` for products"
    ),
    "numpy.testing": Advice(
        "it compares and writes a report", "check what the call returns; `assert` is staged", whole=True
    ),
    "numpy.lib.stride_tricks.as_strided": Advice(
        "arrays of a program have no strides", "use `np.lib.stride_tricks.sliding_window_view`, or index"
    ),
    # -- numbers
    "math.frexp": Advice("it gives a number and an exponent at once", "use `np.frexp(x)`"),
    "bytes": Advice(
        "a program makes no texts of bytes", "use an array of `np.uint8`, or make the bytes after the call"
    ),
    # -- the interpreter
    "sys": Advice(_STATE, "ask before the call, and pass the answer in"),
    "sys.exit": Advice(
        "a compiled program cannot end the process", "raise an exception of your own and catch it around the call"
    ),
    "exit": Advice("a compiled program cannot end the process", "raise an exception, and catch it around the call"),
    "quit": Advice("a compiled program cannot end the process", "raise an exception, and catch it around the call"),
    "gc": Advice(_STATE, "call it around the staged call", aside=True),
    "weakref": Advice("a compiled program has no objects to refer to", "keep the reference outside"),
    "inspect": Advice(_STATE, "inspect before the call"),
    "traceback": Advice(_STATE, "let the exception reach the caller, and print it there"),
    "ctypes": Advice("pystage cannot see into C", "call it outside, on the arrays that go in or come out"),
    "eval": Advice("its text is compiled while the program runs", "write the expression out, or pass a function in"),
    "exec": Advice("its text is compiled while the program runs", "write the statements out in a function"),
    "compile": Advice("its text is compiled while the program runs", "write the statements out in a function"),
    "globals": Advice("it gives the dict of a module", "name the variable itself: globals are read at each call"),
    "locals": Advice("the variables of a program have no dict", "make a dict: `{'x': x}`"),
    "vars": Advice("it gives the dict of an object", "name the attributes themselves"),
    "breakpoint": Advice(
        "a compiled program has no lines to stop at",
        "run the function plainly (`PYSTAGE_FALLBACK=python`, or without the decorator), or `print` the value",
        aside=True,
    ),
    "pdb": Advice(
        "a compiled program has no lines to stop at",
        "run the function plainly, without the decorator, or `print` the value",
        True,
        aside=True,
    ),
    "memoryview": Advice("memory has no addresses in a program", "use the array itself, or a slice of it"),
    "warnings": Advice(
        "whether a warning is shown is decided outside of the program", "warn before or after the call", aside=True
    ),
    "logging": Advice(
        "handlers of the log run outside of the program",
        "use `print`, which prints while the program runs, or log what the call returns",
        aside=True,
    ),
    # -- threads and coroutines
    "threading": Advice(_HOST, "compile the work of one thread, and start the threads around the calls", True),
    "_thread": Advice(_HOST, "take the lock around the call", True),
    "threading.Lock": Advice(_HOST, "take the lock around the call", True),
    "threading.RLock": Advice(_HOST, "take the lock around the call", True),
    "threading.local": Advice(_HOST, "pass the value in as an argument", True),
    "multiprocessing": Advice(_HOST, "compile the work of one process, and start them around the calls", True),
    "concurrent": Advice(_HOST, "compile the work of one task, and submit the compiled function", True),
    "queue": Advice(_HOST, "take from the queue before the call, and put what it returns"),
    "asyncio": Advice(
        "a coroutine waits in the interpreter's event loop", "await before the call, and pass the result in", True
    ),
    # -- text and data that are not numbers
    "json": Advice(_TEXT, "parse before the call and pass the numbers in; write what the call returns", True),
    "re": Advice(_TEXT, "match before the call, and pass in what was found", True),
    "string": Advice(_TEXT, "format outside; f-strings, `%` and `str.format` of numbers are staged"),
    "struct": Advice("it packs numbers into bytes", "convert before the call, with `np.frombuffer` or `x.view(dtype)`"),
    "hashlib": Advice(_TEXT, "hash before the call, or what it returns"),
    "base64": Advice(_TEXT, "decode before the call"),
    "textwrap": Advice(_TEXT, "format the text after the call"),
    "pprint": Advice(_TEXT, "print what the call returns"),
    "decimal": Advice(_OBJECTS, "use floats, or integers of the smallest unit"),
    "fractions": Advice(_OBJECTS, "use floats, or keep numerator and denominator as two integers"),
    "statistics": Advice(
        "it computes with exact fractions, which are Python objects",
        "use NumPy's: `np.mean(xs)`, `np.median(xs)`, `np.std(xs, ddof=1)`",
    ),
    # -- containers
    "collections.OrderedDict": Advice(
        _FRAME,
        "use a dict, which keeps its order too: `d[k] = d.pop(k)` moves a key to the end, `next(iter(d))` is the oldest",
    ),
    "heapq.merge": Advice(_CONTAINER, "sort what is joined: `sorted([*a, *b])`"),
    "types.SimpleNamespace": Advice(_CONTAINER, "use a dataclass"),
    "itertools.tee": Advice(_CONTAINER, "make a list: `xs = list(it)`"),
    "functools.lru_cache": Advice("it keeps results between calls", "decorate the function outside"),
    "copy": Advice("it copies through hooks of the object", "use `x.copy()` of an array, or make the object anew"),
}  # fmt: skip
"""By the name of a module, a class or a function."""


def advise(rows: Mapping[str, Advice]) -> None:
    """Adds the rows of a package other than Python's own."""
    TABLE.update(rows)
    may_be_whole.cache_clear()


@functools.cache
def may_be_whole(package: str) -> bool:
    """True for a top-level package that has a row of which nothing is staged."""
    return any(advice.whole for name, advice in TABLE.items() if name.partition(".")[0] == package)


_ALIASES = {
    "posix": "os",
    "nt": "os",
    "posixpath": "os.path",
    "ntpath": "os.path",
    "genericpath": "os.path",
    "io.open": "open",
    "_io.open": "open",
    "_io": "io",
    "_pickle": "pickle",
    "_random": "random",
    "_hashlib": "hashlib",
    "_struct": "struct",
    "_warnings": "warnings",
    "_collections": "collections",
    "_datetime": "datetime",
    "_asyncio": "asyncio",
    "_weakref": "weakref",
    "_sre": "re",
    "_json": "json",
    "_socket": "socket",
    "_decimal": "decimal",
    "_queue": "queue",
}
"""Names under which Python keeps what users know by another."""


def canonical_name(name: str) -> str:
    """The public name of what Python defines as `name`."""
    for own, known in _ALIASES.items():
        if name == own or name.startswith(own + "."):
            return known + name[len(own) :]
    return name.removeprefix("builtins.")


def advice_for(names: Iterable[str]) -> Advice | None:
    """The advice for a call under one of these names: the longest row that matches the first name that has one."""
    for name in names:
        parts = canonical_name(name).split(".")
        for count in range(len(parts), 0, -1):
            found = TABLE.get(".".join(parts[:count]))
            if found is not None:
                return found
    return None
