"""`check`: a plain function and its arguments, run by CPython and staged, must be indistinguishable.

In: a function, and arguments. Each run gets deep copies of its own (one copy for all arguments, so that what
was one object stays one object). The staged program runs compiled by XLA, and once more in the reference
interpreter. Out: nothing, or an `AssertionError` that names the first place where the runs differ: in the
result, in the arguments afterwards, in the exception (its class, its arguments, the line that raised it, its cause and
context), in what
was printed, or in what is the same object.
"""

from __future__ import annotations

import copy
import functools
import inspect
import io
import itertools
import traceback
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from _pytest.mark import ParameterSet
from sampling import is_chosen

import pystage
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.pipeline import Staged
from pystage.runtime.executables.primitive import pystage_p
from pystage.runtime.function import CompiledFunction

F = TypeVar("F", bound=Callable[..., Any])

INTERPRETED = 3
"""Of so many tests one runs its programs in the reference interpreter too."""

TOLERANCES = {"float64": 1e-11, "float32": 2e-5, "float16": 5e-3, "bfloat16": 3e-2}
"""Relative and absolute tolerance by the name of a real dtype; complex ones take that of their parts."""


def check(
    function: Callable[..., Any],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    staged: Callable[..., Any] | None = None,
    refused: str | None = None,
    raises: type[Exception] | None = None,
    tolerance: Mapping[str, float] | float | None = None,
    runs: int = 2,
    interpreted: bool = True,
    zeros: bool = False,
) -> None:
    """Asserts that `function(*args, **kwargs)` is the same plain and staged.

    `staged`: what to call instead of `pystage.compile(function)`, to keep one compiled function over several
    checks. `refused`: the code of the diagnostic with which staging must fail, arguments untouched. `raises`: the
    class of the exception that the plain run raises; without it, a plain run that raises fails the check.
    `tolerance`: instead of those by dtype; one for all, or by the name of the dtype. `runs`: how often the staged
    function is called, so that the later calls find the compiled program. `interpreted`: whether the program runs
    in the reference interpreter too, which takes long for what loops much; of many tests a third does. `zeros`: whether
    the signs of zeros are compared.
    """
    keywords = dict(kwargs or {})
    staged = staged or _compiled(function)
    if refused is not None:
        _check_refused(staged, args, keywords, refused)
        return
    plain = run_of(function, args, keywords)
    code = getattr(inspect.unwrap(function), "__code__", None)
    file = code.co_filename if code is not None else ""
    if plain.error is not None and raises is None:
        raise plain.error
    assert raises is None or type(plain.error) is raises, f"the plain run raised {plain.error!r}"
    _assert_something_to_compare(plain, args, keywords)
    for number in range(1, runs + 1):
        comparison = Comparison(tolerance, zeros=zeros)
        compare_runs(plain, run_of(staged, args, keywords), comparison, f"call {number}", file)
    if interpreted and is_chosen(INTERPRETED) and isinstance(staged, CompiledFunction):
        with interpreting() as programs:
            run = run_of(staged, args, keywords)
        assert programs, "nothing was interpreted"
        comparison = Comparison(tolerance, weak_types=False, zeros=zeros)
        compare_runs(plain, run, comparison, "interpreted", file)


@functools.lru_cache(maxsize=256)
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """One compiled function for all checks of a plain one, as users have it: it serves all kinds of arguments."""
    return pystage.compile(function, fallback="error")


@contextmanager
def interpreting() -> Iterator[list[Staged]]:
    """Programs that are called meanwhile run in the reference interpreter; gives the list of them."""
    programs: list[Staged] = []

    def run(*operands: Any, staged: Staged) -> list[jax.Array]:
        programs.append(staged)
        with jax.disable_jit(False), jax.enable_x64(True):
            results = interpret(staged.function, [np.asarray(operand) for operand in operands])
            return [jnp.asarray(result) for result in results]

    compiled = pystage_p.impl
    pystage_p.def_impl(run)
    try:
        with jax.disable_jit():
            yield programs
    finally:
        pystage_p.def_impl(compiled)


class Cases:
    """The programs of a test module: a decorator for each program's inputs, and what parametrises the test.

    `@cases(1.0)` above a function adds the function with the argument `1.0`; the function stays as it is.
    """

    def __init__(self) -> None:
        self.params: list[ParameterSet] = []
        self._counts: Counter[str] = Counter()

    def __call__(self, *args: Any, **options: Any) -> Callable[[F], F]:
        """Adds the decorated function with these arguments; `options` go to `check`."""

        def add(function: F) -> F:
            name = function.__name__
            self._counts[name] += 1
            self.params.append(pytest.param(function, args, options, id=f"{name}-{self._counts[name]}"))
            return function

        return add

    def each(self, *inputs: tuple[Any, ...], **options: Any) -> Callable[[F], F]:
        """Adds the decorated function once for each tuple of arguments."""

        def add(function: F) -> F:
            for args in inputs:
                self(*args, **options)(function)
            return function

        return add


@dataclass
class Run:
    """What a call left behind: its arguments as they are now, its result or its exception, and what it printed."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any = None
    error: Exception | None = None
    printed: tuple[str, str] = ("", "")


def run_of(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
    """A call with deep copies of the arguments, and what it left behind."""
    own_args, own_kwargs = copy.deepcopy((args, kwargs))
    run = Run(own_args, own_kwargs)
    output, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(errors):
        try:
            run.result = function(*own_args, **own_kwargs)
        except pystage.StagingError:
            raise
        except Exception as error:
            run.error = error
    run.printed = output.getvalue(), errors.getvalue()
    return run


def _assert_something_to_compare(plain: Run, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """A program that returns nothing, raises nothing and changes no argument would pass whatever it does."""
    if plain.result is not None or plain.error is not None or any(plain.printed):
        return
    try:
        Comparison().same((args, kwargs), (plain.args, plain.kwargs), "arguments")
    except AssertionError:
        return
    pytest.fail("the plain run returns None and changes none of its arguments: nothing to check")


def _check_refused(
    staged: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], code: str
) -> None:
    own_args, own_kwargs = copy.deepcopy((args, kwargs))
    with pytest.raises(pystage.StagingError) as caught:
        staged(*own_args, **own_kwargs)
    codes = [diagnostic.code for diagnostic in caught.value.diagnostics]
    assert code in codes, f"refused with {codes}, not with {code}:\n{caught.value}"
    Comparison().same((args, kwargs), (own_args, own_kwargs), "arguments after the refusal")


_COMPREHENSIONS = ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")
"""Frames of the plain run that are no functions of the user."""


def _raised_at(run: Run, file: str) -> tuple[int | None, str] | None:
    """The last line of the user's file that led to the exception, and the function it stands in."""
    assert run.error is not None
    entries = traceback.extract_tb(run.error.__traceback__)
    own = [entry for entry in entries if entry.filename == file and entry.name not in _COMPREHENSIONS]
    lines = [(entry.lineno, entry.name) for entry in own]
    return lines[-1] if lines else None


def compare_runs(plain: Run, staged: Run, comparison: Comparison, name: str, file: str) -> None:
    """Asserts that two runs of the functions of a file gave, changed, raised and printed the same."""
    if staged.error is not None and plain.error is None:
        raise AssertionError(f"{name}: only the staged run raised") from staged.error
    if plain.error is not None:
        assert staged.error is not None, f"{name}: only the plain run raised {plain.error!r}"
        _same_exceptions(plain.error, staged.error, comparison, name)
        assert _raised_at(staged, file) == _raised_at(plain, file), f"{name}: raised elsewhere"
    assert staged.printed == plain.printed, f"{name}: {plain.printed!r} became {staged.printed!r}"
    comparison.same(plain.args, staged.args, f"{name}: argument")
    comparison.same(plain.kwargs, staged.kwargs, f"{name}: keyword argument")
    comparison.same(plain.result, staged.result, f"{name}: result")
    comparison.same_memory()


def _notes(error: BaseException) -> list[str]:
    """The notes of an exception, but for the one that JAX adds to what passes through it."""
    return [n for n in getattr(error, "__notes__", []) if "JAX has removed its internal frames" not in n]


def _same_exceptions(plain: Any, staged: Any, comparison: Comparison, name: str) -> None:
    """Asserts that the exceptions are equal, and what they were raised from and while handling, all the way down."""
    if plain is None:
        assert staged is None, f"{name}: there is {staged!r} too"
        return
    assert type(staged) is type(plain), f"{name}: {plain!r} became {staged!r}"
    assert str(staged) == str(plain), f"{name}: {plain!r} became {staged!r}"
    comparison.same(plain.args, staged.args, f"{name}: {plain!r}.args")
    notes = [_notes(error) for error in (plain, staged)]
    assert notes[0] == notes[1], f"{name}: {plain!r} has the notes {notes[0]}, {staged!r} {notes[1]}"
    assert staged.__suppress_context__ == plain.__suppress_context__, f"{name}: {plain!r}"
    for part in ("__cause__", "__context__"):
        inner = f"{name}: {plain!r}.{part}"
        _same_exceptions(getattr(plain, part), getattr(staged, part), comparison, inner)


@dataclass
class Comparison:
    """Walks two structures side by side, and remembers which objects of one stand for which of the other.

    `weak_types`: whether those of `jax.Array`s are compared. `zeros`: whether the signs of zeros are.
    """

    tolerance: Mapping[str, float] | float | None = None
    weak_types: bool = True
    zeros: bool = False
    partners: dict[int, Any] = field(default_factory=dict)  # id of a plain object → its staged partner
    taken: dict[int, str] = field(default_factory=dict)  # id of a staged object → where it was first met
    arrays: list[tuple[str, np.ndarray, np.ndarray]] = field(default_factory=list)
    keep: list[Any] = field(default_factory=list)  # keeps what `partners` and `taken` know by id alive

    def same(self, plain: Any, staged: Any, path: str) -> None:
        """Asserts that the two are equal in kind, type, value and identity, all the way down."""
        if isinstance(plain, jax.Array):
            self._same_jax(plain, staged, path)
            return
        assert type(staged) is type(plain), (
            f"{path}: {_name(plain)} became {_name(staged)} ({plain!r}, {staged!r})"
        )
        if isinstance(plain, np.ndarray):
            if self._paired(plain, staged, path):
                self._same_ndarray(plain, staged, path)
        elif isinstance(plain, np.void):  # a view, as ndarrays are
            if self._paired(plain, staged, path):
                self._same_ndarray(np.asarray(plain), np.asarray(staged), path)
        elif isinstance(plain, np.generic | bool | int | float | complex):
            self._same_values(np.asarray(plain), np.asarray(staged), path)
        elif isinstance(plain, tuple):
            self._same_items(plain, staged, path)
        elif isinstance(plain, list | deque | array):
            if self._paired(plain, staged, path):
                for name in ("maxlen", "typecode"):
                    assert getattr(plain, name, None) == getattr(staged, name, None), f"{path}: {name}"
                self._same_items(plain, staged, path)
        elif isinstance(plain, dict):
            if self._paired(plain, staged, path):
                assert list(staged) == list(plain), f"{path}: keys {list(plain)} became {list(staged)}"
                for key in plain:
                    self.same(plain[key], staged[key], f"{path}[{key!r}]")
        elif isinstance(plain, set):
            if self._paired(plain, staged, path):
                assert plain == staged, f"{path}: {plain!r} became {staged!r}"
        elif isinstance(plain, np.random.Generator | np.random.RandomState):
            if self._paired(plain, staged, path):
                assert _equal_states(state_of(plain), state_of(staged)), f"{path}: the generators differ"
        elif isinstance(plain, itertools.count):
            if self._paired(plain, staged, path):
                assert repr(staged) == repr(plain), f"{path}: {plain!r} became {staged!r}"
        elif isinstance(plain, MethodType):
            if self._paired(plain, staged, path):
                assert plain.__func__ is staged.__func__, f"{path}: {plain!r} became {staged!r}"
                self.same(plain.__self__, staged.__self__, f"{path}.__self__")
        elif _has_fields(plain):
            if self._paired(plain, staged, path):
                self._same_fields(fields_of(plain), fields_of(staged), path)
        else:  # strings, None, ranges, slices, dtypes, sets, functions, classes, modules
            assert plain == staged, f"{path}: {plain!r} became {staged!r}"

    def same_memory(self) -> None:
        """Asserts that two arrays of one side share memory exactly if their partners do."""
        for i, (path, plain, staged) in enumerate(self.arrays):
            for other_path, other_plain, other_staged in self.arrays[:i]:
                shared = np.shares_memory(plain, other_plain)
                assert np.shares_memory(staged, other_staged) == shared, (
                    f"{path} and {other_path}: shared memory is {shared} in the plain run only"
                )

    def _paired(self, plain: Any, staged: Any, path: str) -> bool:
        """Asserts that the objects are partners; True if they were not met before."""
        if id(plain) in self.partners:
            assert self.partners[id(plain)] is staged, f"{path}: the same object as before became another"
            return False
        assert id(staged) not in self.taken, f"{path}: became the same object as {self.taken[id(staged)]}"
        self.partners[id(plain)] = staged
        self.taken[id(staged)] = path
        self.keep += [plain, staged]
        return True

    def _same_items(self, plain: Any, staged: Any, path: str) -> None:
        assert len(staged) == len(plain), f"{path}: {len(plain)} items became {len(staged)}"
        for index, (a, b) in enumerate(zip(plain, staged)):
            self.same(a, b, f"{path}[{index}]")

    def _same_fields(self, plain: dict[str, Any], staged: dict[str, Any], path: str) -> None:
        assert staged.keys() == plain.keys(), f"{path}: fields {list(plain)} became {list(staged)}"
        for name, value in plain.items():
            self.same(value, staged[name], f"{path}.{name}")

    def _same_ndarray(self, plain: np.ndarray, staged: np.ndarray, path: str) -> None:
        memory = "writable" if staged.flags.writeable else "read-only"
        assert staged.flags.writeable == plain.flags.writeable, f"{path}: became {memory}"
        self._same_values(plain, staged, path)
        self.arrays.append((path, plain, staged))

    def _same_jax(self, plain: jax.Array, staged: Any, path: str) -> None:
        assert isinstance(staged, jax.Array), f"{path}: {_name(plain)} became {_name(staged)}"
        if jax.dtypes.issubdtype(plain.dtype, jax.dtypes.prng_key):
            assert staged.dtype == plain.dtype, f"{path}: {plain.dtype} became {staged.dtype}"
            plain, staged = jax.random.key_data(plain), jax.random.key_data(staged)
        if self.weak_types:
            assert staged.weak_type == plain.weak_type, f"{path}: weak_type was {plain.weak_type}"
        self._same_values(np.asarray(plain), np.asarray(staged), path)

    def _same_values(self, plain: np.ndarray, staged: np.ndarray, path: str) -> None:
        assert staged.dtype == plain.dtype, f"{path}: {plain.dtype} became {staged.dtype}"
        assert staged.shape == plain.shape, f"{path}: shape {plain.shape} became {staged.shape}"
        if plain.dtype.names is not None:
            assert repr(staged.dtype) == repr(plain.dtype), f"{path}: {plain.dtype!r} became {staged.dtype!r}"
            for name in plain.dtype.names:
                self._same_values(plain[name], staged[name], f"{path}[{name!r}]")
            return
        if not jnp.issubdtype(plain.dtype, np.inexact):
            np.testing.assert_array_equal(staged, plain, err_msg=path)
            return
        tolerance = self.tolerance if self.tolerance is not None else TOLERANCES
        if isinstance(tolerance, Mapping):
            tolerance = tolerance[_real(plain.dtype)]
        wide = np.complex128 if np.iscomplexobj(plain) else np.float64
        np.testing.assert_allclose(
            staged.astype(wide), plain.astype(wide), rtol=tolerance, atol=tolerance, err_msg=path
        )
        if self.zeros:
            _same_zeros(plain.astype(wide), staged.astype(wide), path)


def _same_zeros(plain: np.ndarray, staged: np.ndarray, path: str) -> None:
    """Asserts that where both have a zero, it has the same sign."""
    if np.iscomplexobj(plain):
        _same_zeros(plain.real, staged.real, f"{path}.real")
        _same_zeros(plain.imag, staged.imag, f"{path}.imag")
        return
    signs = (plain == 0) & (staged == 0) & (np.signbit(plain) != np.signbit(staged))
    assert not signs.any(), f"{path}: {plain!r} became {staged!r}, zeros with other signs"


def state_of(generator: np.random.Generator | np.random.RandomState) -> dict[str, Any]:
    """All that decides what a generator draws next."""
    if isinstance(generator, np.random.Generator):
        return dict(generator.bit_generator.state)
    return dict(generator.get_state(legacy=False))


def _equal_states(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_equal_states(a[k], b[k]) for k in a)
    return bool(np.array_equal(a, b))


def _name(value: Any) -> str:
    """How a value is described: its type, with dtype and shape where it has them."""
    kind = "jax.Array" if isinstance(value, jax.Array) else type(value).__qualname__
    return f"{kind} {value.dtype}{list(value.shape)}" if hasattr(value, "dtype") else kind


def _real(dtype: np.dtype) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(dtype.name, dtype.name)


def _has_fields(value: Any) -> bool:
    """Whether the value is an object whose fields say what it is, unlike a function, a class or a string."""
    if isinstance(value, type | ModuleType | FunctionType | BuiltinFunctionType | MethodType):
        return False
    return hasattr(value, "__dict__") or hasattr(type(value), "__slots__")


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of an object by name, from `__dict__` and `__slots__`."""
    found = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name != "__dict__" and hasattr(value, name):
                found[name] = getattr(value, name)
    return found
