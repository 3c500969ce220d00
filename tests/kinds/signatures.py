"""Every function of NumPy that the library knows, by its real signature and with operands at the edge.

In: the calls of `calls.txt`. Each is made with the operands of `OPERANDS` in place of one array and of all, and with
each keyword of the function's signature that it leaves out, at the values of `VALUES`. Out: `Case`s, which run plain and
compiled by XLA and are compared in values (the signs of zeros among them), dtypes, shapes, kinds, writability, mutations
and exceptions. `python -m kinds.signatures [--each N] [NAME …]` runs all of them, one of N, or those of some functions, and
prints what differs and how many are refused.
"""

from __future__ import annotations

import argparse
import ast
import copy
import inspect
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from outcomes import Outcome

import pystage
from kinds.calls import ARRAYS, CALLS, names_in
from kinds.running import PLAIN, Endless, limited, outcome_of, program_of


def _tiled(*values: Any, dtype: Any = np.float64) -> Callable[[np.ndarray], np.ndarray]:
    """An operand of the same shape that holds these numbers again and again."""
    return lambda a: np.resize(np.array(values, dtype), a.shape)


def _integers(dtype: Any) -> Callable[[np.ndarray], np.ndarray]:
    """An operand of the same shape that holds the extreme integers of a type, and small ones."""
    limits = np.iinfo(dtype)
    return _tiled(limits.max, 1, limits.min, 0, limits.max // 2 + 1, 3, dtype=dtype)


def _read_only(a: np.ndarray) -> np.ndarray:
    made = a.copy()
    made.flags.writeable = False
    return made


INF, NAN = np.inf, np.nan
OPERANDS: dict[str, Callable[[np.ndarray], Any]] = {
    "empty": lambda a: a[:0] if a.ndim else np.zeros(0),
    "no columns": lambda a: a[..., :0] if a.ndim else a,
    "without axes": lambda a: np.array(a.flat[0]),
    "scalar": lambda a: a.flat[0],
    "number": lambda a: a.flat[0].item(),
    "integer": lambda a: 2,
    "one element": lambda a: a.ravel()[:1],
    "nan": _tiled(NAN, 1.0, -2.0, 0.5),
    "all nan": _tiled(NAN),
    "infinities": _tiled(INF, -INF, 1.0, NAN),
    "infinite": _tiled(INF),
    "zeros": _tiled(-0.0, 0.0, -0.0),
    "huge": _tiled(1e308, -1e308, 1.0, 5e307),
    "int8": _integers(np.int8),
    "uint8": _integers(np.uint8),
    "int16": _integers(np.int16),
    "int64": _integers(np.int64),
    "uint64": _integers(np.uint64),
    "bool": _tiled(True, False, False, dtype=np.bool_),
    "complex": _tiled(1 + 2j, -0.5j, NAN, complex(INF, -0.0), dtype=np.complex128),
    "complex64": _tiled(1 + 2j, -0.5j, 3.0, dtype=np.complex64),
    "float16": lambda a: a.real.astype(np.float16),
    "float32": lambda a: a.real.astype(np.float32),
    "read-only": _read_only,
    "column by column": lambda a: a[::-1] if a.ndim == 1 else np.asfortranarray(a),
    "every other": lambda a: np.repeat(a, 2, -1)[..., ::2] if a.ndim else a,
    "list": lambda a: a.tolist(),
    "None": lambda a: None,
    "text": lambda a: "x",
    "objects": lambda a: a.astype(object),
}
"""What takes the place of an array argument."""

_ANY = (None, True, 0, -1, 2.5, "bogus")
VALUES: dict[str, tuple[Any, ...]] = {
    "axis": (0, -1, 1, None, (0,), (0, 1), (), 7, True, 1.0),
    "axes": (0, (0, 1), None, ((0,), (0,)), 7),
    "keepdims": (True, False, None, 1),
    "dtype": (np.float32, int, complex, bool, "f4", np.float16, np.uint8, "bogus"),
    "where": (True, False, np.array([True, False, True, True])),
    "initial": (0, 2.5, 1j, None),
    "casting": ("no", "safe", "same_kind", "unsafe", "bogus"),
    "order": ("C", "F", "A", "K", "X"),
    "out": (None, np.zeros(4), np.zeros(4, np.int8), np.zeros((3, 3)), np.zeros(()), [0.0]),
    "ddof": (1, 0.5, -1, 7),
    "correction": (1, 0.5, -1),
    "mode": ("raise", "wrap", "clip", "full", "same", "valid", "bogus", 0),
    "kind": ("stable", "quicksort", "heapsort", "bogus"),
    "side": ("left", "right", "bogus"),
    "stable": (True, False, None),
    "method": ("linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "bogus"),
    "subok": (True, False),
    "norm": ("ortho", "forward", "backward", None, "bogus"),
    "ord": (None, "fro", "nuc", np.inf, -np.inf, 0, 1, -1, 2, -2, 0.5, "bogus"),
    "k": (0, 1, -1, 7, -7, 2**40),
    "offset": (0, 1, -1, 7, -7),
    "n": (0, 1, 2, 7, -1),
    "shape": ((4,), (2, 2), -1, (3, 3), (0,), ()),
    "rcond": (None, 1e-3, -1),
    "UPLO": ("L", "U", "bogus"),
    "weights": (None, np.array([1.0, 2.0, 0.0, 1.0]), np.array([1, 1, 1]), np.zeros(4), "bogus"),
    "rtol": (0.0, 1e-3, np.nan),
    "atol": (0.0, 1e-3, np.nan),
    "decimals": (0, 1, -1, 400, -400),
    "density": (True, False),
    "range": ((0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, np.inf)),
    "bins": (1, 3, 0, -1, np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.0]), "auto", 2.5),
    "sorter": (None, np.array([3, 2, 1, 0]), np.array([0, 1]), np.array([0, 9, 1, 2])),
    "minlength": (0, 9, -1, 2.5),
    "left": (0.5, np.nan, 1j),
    "right": (0.5, np.nan, 1j),
    "period": (1.0, 0, -2.5),
    "nan": (0.0, 1j),
    "posinf": (None, 1.0),
    "neginf": (None, 1.0),
    "copy": (True, False, None),
    "indexing": ("ij", "xy", "bogus"),
    "sparse": (True, False),
    "repeats": (0, 2, -1, (1, 2), 2.5),
    "prepend": (0, (1.0, 2.0), None),
    "append": (0, (1.0, 2.0), None),
    "to_end": (None, 1, (1.5, 2.0)),
    "to_begin": (None, 1, (1.5, 2.0)),
    "fill_value": (0, np.nan, 300, 1j),
    "default": (0, 1.5, "bogus"),
    "min": (None, 0.0, 3),
    "max": (None, 1.0, -1),
}
"""The values at which a keyword of a signature is tried; others are tried at those of any kind."""

LEFT_OUT = {"signature", "like", "device", "kwargs", "args", "func", "optimize"}
"""Parameters that say how, not what, or that only NumPy's own objects can be."""


ENDS_NUMPY = frozenset(
    ["cumsum", "cumprod", "cumulative_sum", "cumulative_prod", "add.accumulate", "nancumsum", "nancumprod"]
)
"""Functions that end the process, plain too, with an `out` without axes (NumPy 2.4)."""

EXTREMA = ("clip", "maximum", "minimum", "fmax", "fmin", "max", "min", "amax", "amin", "nanmax", "nanmin")
COMPLEX_PRODUCTS = ("prod", "cumprod", "cumulative_prod", "nanprod", "nancumprod")
SOLVED = ("solve", "tensorsolve", "inv", "tensorinv", "lstsq", "pinv")
IN_ORDER = (
    *SOLVED,
    "cross",
    "det",
    "slogdet",
    "polyfit",
    "matrix_power",
    "dot",
    "inner",
    "matmul",
    "vdot",
    "vecdot",
    "tensordot",
    "einsum",
    "matvec",
    "vecmat",
    "multi_dot",
)


@dataclass(frozen=True)
class Case:
    """A call of a function, and its arguments by name."""

    name: str
    text: str
    args: tuple[tuple[str, Any], ...]
    what: str

    @property
    def label(self) -> str:
        return f"{self.text} [{self.what}]" if self.what else self.text

    @property
    def number(self) -> int:
        """By which a sample is chosen, whatever else there is."""
        return zlib.crc32(self.label.encode())

    def outcome(self) -> Outcome:
        """What becomes of it, strictly staged and compiled."""
        function = program_of(self.text, [name for name, _ in self.args])
        found = outcome_of(function, tuple(value for _, value in self.args), {}, PLAIN, False, zeros=True)
        return Outcome("deviation") if found.is_wrong and self._is_deviation(found.text) else found

    def _is_deviation(self, text: str) -> bool:
        """Whether docs/semantics.md explains a difference."""
        name = self.name.rpartition(".")[2]
        if name == "broadcast_arrays" or "overwrite_input" in self.text:  # what NumPy leaves open
            return "read-only" in text or "argument[0]" in text
        if name == "uint32" and self.what.startswith(("nan", "all nan", "infinit", "huge")):
            return True  # what such a cast gives depends on the processor
        if name in ("argsort", "argpartition") and self.what.startswith(("uint64", "all nan")):
            return True  # the order of equal elements
        if self.what.startswith("column") and ("shared memory" in text or "the same object" in text):
            return True  # what a copy depends on
        if name == "empty":
            return True  # whatever was in the memory
        if name == "unique" and "sorted=" in self.text:
            return True  # the order, of which NumPy promises none
        if name == "interp" and "v" in self.what.rpartition(": ")[2].split(", "):
            return True  # between points that are in no order
        if "LinAlgError" in text and self.what.startswith(("infinit", "nan", "all nan", "complex:")):
            return True  # what LAPACK makes of such a matrix
        if name in EXTREMA and "zeros with other signs" in text:
            return True
        if self.what.startswith(("complex", "infinit")) and name in COMPLEX_PRODUCTS:
            return True  # products of complex numbers, of which one is infinite or has a part that is zero
        if name in IN_ORDER and "zeros with other signs" in text:
            return True  # the order of BLAS and LAPACK
        return (
            self.what.startswith(("huge", "int64", "uint64")) and name in IN_ORDER
        )  # sums that overflow, or cancel, in one order


def cases_of(name: str) -> Iterator[Case]:
    """All cases of a function's calls."""
    tried: set[str] = set()
    for text in CALLS[name]:
        plain = {n: ARRAYS[n] for n in names_in(text)}
        yield from _with_other_operands(name, text, plain)
        for keyword in keywords_left_out(name, text):
            if keyword not in tried:
                tried.add(keyword)
                yield from _with_keyword(name, text, plain, keyword)


def _with_other_operands(name: str, text: str, plain: dict[str, Any]) -> Iterator[Case]:
    names = list(plain)
    ends = name in ENDS_NUMPY and "out=" in text
    wraps = "mode='wrap'" in text  # NumPy adds the size until the index is not negative
    for what, made in OPERANDS.items():
        if (ends and what == "without axes") or (wraps and what == "int64"):
            continue
        chosen = [{n} for n in names] + ([set(names)] if len(names) > 1 else [])
        for some in chosen:
            args = {n: made(a) if n in some else a for n, a in plain.items()}
            yield Case(name, text, tuple(args.items()), f"{what}: {', '.join(sorted(some))}")


def _with_keyword(name: str, text: str, plain: dict[str, Any], keyword: str) -> Iterator[Case]:
    for number, value in enumerate(VALUES.get(keyword, _ANY)):
        literal = written(value)
        if keyword == "out" and name in ENDS_NUMPY and np.ndim(value) == 0 and value is not None:
            continue
        if literal is None:
            more = with_keyword(name, text, keyword, "w")
            yield Case(name, more, (*plain.items(), ("w", value)), f"w is {keyword} {number}")
        else:
            yield Case(name, with_keyword(name, text, keyword, literal), tuple(plain.items()), "")


def written(value: Any) -> str | None:
    """A value as it stands in a program; None of an array or a list."""
    if isinstance(value, np.ndarray | list):
        return None
    if isinstance(value, type):
        return f"np.{value.__name__}" if issubclass(value, np.generic) else value.__name__
    if isinstance(value, float) and not np.isfinite(value):
        return f"{'-' if value < 0 else ''}np.{'nan' if np.isnan(value) else 'inf'}"
    if isinstance(value, tuple):
        return f"({''.join(f'{written(v)}, ' for v in value)})"
    return repr(value)


def _call_of(name: str, tree: ast.AST) -> ast.Call | None:
    """The call of the function in a text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"np.{name}":
            return node
    return None


def keywords_left_out(name: str, text: str) -> list[str]:
    """The parameters of the function that the call does not give and that can be given by name."""
    call = _call_of(name, ast.parse(text))
    function: Any = np
    for part in name.split("."):
        function = getattr(function, part, None)
    if call is None or function is None or isinstance(function, type):
        return []
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        return []
    given = {k.arg for k in call.keywords} | {p.name for p in parameters[: len(call.args)]}
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return [p.name for p in named if p.name not in given | LEFT_OUT and p.default is not p.empty]


def with_keyword(name: str, text: str, keyword: str, value: str) -> str:
    """The text of a call with one more keyword."""
    tree = ast.parse(text, mode="eval")
    call = _call_of(name, tree)
    assert call is not None
    call.keywords.append(ast.keyword(keyword, ast.parse(value, mode="eval").body))
    return ast.unparse(copy.deepcopy(tree))


def main(names: list[str], each: int = 1) -> None:
    """Runs one of so many cases of these functions, or of all, and prints what differs."""
    pystage.config.fallback = "error"
    counts: Counter[str] = Counter()
    for case in [case for name in names or CALLS for case in cases_of(name) if case.number % each == 0]:
        try:
            with limited(60):
                outcome = case.outcome()
        except Endless:
            outcome = Outcome("differs", "no answer in 60 s")
        counts[outcome.what] += 1
        if outcome.is_wrong:
            print(f"{case.label}\n    {outcome.text[:600]}", flush=True)
    print(", ".join(f"{what} {count}" for what, count in counts.most_common()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--each", type=int, default=1)
    given = parser.parse_args()
    main(given.names, given.each)
