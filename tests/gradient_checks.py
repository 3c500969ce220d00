"""`check_gradient`: the gradient of a plain function's results by its arguments, against differences of its plain run.

In: a function and its arguments. What varies is every number with a fraction in the arguments, made 64 bits wide
and moved a little, so that what was equal by chance no longer is. What is differentiated is a sum, with fixed weights,
of every such number in the result and in the arguments that the call changed. Out: an `Outcome`.

Differences need no list of the programs that are not smooth: there the slopes to both sides of the point differ. How
much they may differ is how well the gradient must agree, so that a kink that is let through is no mistake.
"""

from __future__ import annotations

import copy
import inspect
import io
import itertools
import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from checking import fields_of, interpreting
from outcomes import Outcome

import pystage

Args = tuple[Any, ...]
STEP = 1e-6
FAR = 3.3
ERROR = 1e-4
"""How far slopes and gradients may be apart, relative to their size and to one."""
JITTER = 1e-3
DIRECTIONS = 2
LEAST, MOST = 1e-20, 1e8
_WIDE = {"float16": "float64", "float32": "float64", "complex64": "complex128"}
_numbers = itertools.count()


def check_gradient(
    function: Callable[..., Any],
    args: Args,
    kwargs: Mapping[str, Any] | None = None,
    second: bool = False,
    compiled: bool = False,
    begin: Callable[[], None] = lambda: None,
) -> Outcome:
    """Holds the gradient of a function at some arguments against differences; with `second`, its slopes too.

    The gradient runs in the reference interpreter, or `compiled` by XLA, which takes longer. `begin` is called before
    each run, to make what the function captures what it was.
    """
    with (
        jax.enable_x64(True),
        np.errstate(all="ignore"),
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
    ):
        return _outcome(Program(function, dict(kwargs or {}), compiled, begin), args, second)


def _outcome(program: Program, args: Args, second: bool) -> Outcome:
    point = generic(args)
    varied = [x for _, x in numbers(point)]
    if not varied:
        return Outcome("constant")
    if not all(map(_is_plain, varied)):
        return Outcome("rough", "for numbers of these sizes")
    if "float16" in _source_of(program.function):
        return Outcome("rough", "rounded to three digits on the way")
    try:
        program.prepare(point)
        slopes = [program.slope(point, directions(point, seed)) for seed in range(DIRECTIONS)]
    except Exception as error:
        return Outcome("raises", repr(error))
    if not program.terms:
        return Outcome("constant")
    if any(s is None for s in slopes):
        return Outcome("rough")
    try:
        program.compare(point, slopes)
        if second and not program.compare_second(point):
            return Outcome("rough", "in the second derivative")
    except pystage.StagingError as error:
        return Outcome(error.diagnostics[0].code, f"{error}\n{program.source}")
    except Exception as error:
        return Outcome("differs", f"{error!r}\n{program.source}\nat {point!r}")
    return Outcome("same")


def _source_of(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return ""


# ---------------------------------------------------------------- structures of numbers


def is_number(value: Any) -> bool:
    """Whether a value is a number with a fraction, or an array of such."""
    if isinstance(value, np.ndarray | np.generic | jax.Array):
        return jnp.issubdtype(value.dtype, np.inexact)
    return isinstance(value, float | complex)


def numbers(value: Any, path: str = "", above: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every number with a fraction in a structure, after the text of an expression that leads to it."""
    if is_number(value):
        yield path, value
    elif id(value) not in above:
        above = (*above, id(value))
        for step, part in _parts(value):
            yield from numbers(part, path + step, above)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    match value:
        case tuple() | list():
            yield from [(f"[{i}]", part) for i, part in enumerate(value)]
        case dict():
            yield from [(f"[{k!r}]", part) for k, part in value.items() if isinstance(k, str | int | float)]
        case np.ndarray() | np.generic() | jax.Array() | type():
            return
        case _:
            yield from [(f".{name}", part) for name, part in fields_of(value).items()]


class _Replaced:
    """A copy of a structure with other numbers; what is one object is one object in the copy."""

    def __init__(self, number: Callable[[str, Any], Any]) -> None:
        self._number = number
        self._made: dict[int, Any] = {}
        self._keep: list[Any] = []

    def __call__(self, value: Any, path: str = "") -> Any:
        if not isinstance(value, float | complex | np.generic) and id(value) in self._made:
            return self._made[id(value)]
        self._keep.append(value)
        made = self._copy(value, path)
        self._made[id(value)] = made
        return made

    def _copy(self, value: Any, path: str) -> Any:
        if is_number(value):
            return self._number(path, value)
        parts = dict(_parts(value))
        match value:
            case tuple():
                items = [self(part, path + step) for step, part in parts.items()]
                return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
            case list():
                made = self._made[id(value)] = []
                made.extend([self(part, path + step) for step, part in parts.items()])
                return made
            case dict():
                copied = self._made[id(value)] = copy.copy(value)
                for key in value:
                    copied[key] = self(value[key], f"{path}[{key!r}]")
                return copied
        if not any(True for _ in numbers(value)):
            return copy.deepcopy(value, dict(self._made))
        made = self._made[id(value)] = copy.copy(value)
        for step, part in parts.items():
            object.__setattr__(made, step[1:], self(part, path + step))
        return made


def generic(args: Args) -> Args:
    """The arguments in 64 bits, each number moved a little."""
    rng = np.random.default_rng(0)

    def number(_: str, x: Any) -> Any:
        wide = _WIDE.get(str(getattr(x, "dtype", "")))
        x = x.astype(wide) if wide else x
        return _like(x, np.asarray(x) + JITTER * _direction(x, rng))

    return tuple(_Replaced(number)(args))


def _is_plain(x: Any) -> bool:
    """Whether numbers are of sizes at which differences have digits."""
    size = np.abs(np.asarray(x))
    return bool(np.all((size == 0) | (size > LEAST) & (size < MOST)))


def _direction(x: Any, rng: np.random.Generator) -> np.ndarray:
    """A direction for a number or an array: by its size, so that a tolerance stays positive; what is Hermitian stays so."""
    values = np.asarray(x)
    size = np.abs(values)
    scale = np.where(size == 0, 1.0, size)
    made = rng.standard_normal(size.shape) * scale
    if np.iscomplexobj(values):
        made = made + 1j * rng.standard_normal(size.shape) * scale
    if values.ndim > 1 and values.shape[-1] == values.shape[-2]:
        transposed = np.conj(np.swapaxes(values, -1, -2))
        if np.array_equal(transposed, values):
            made = (made + np.conj(np.swapaxes(made, -1, -2))) / 2
    return np.asarray(made)


def _like(x: Any, values: np.ndarray) -> Any:
    """The values as what `x` is: a Python number, a NumPy scalar, an ndarray or a `jax.Array`."""
    if isinstance(x, jax.Array):
        return jnp.asarray(values, x.dtype)
    if isinstance(x, np.generic | np.ndarray):
        return values.astype(x.dtype) if isinstance(x, np.ndarray) else x.dtype.type(values)
    return type(x)(values)


def directions(args: Args, seed: int) -> dict[str, np.ndarray]:
    """A direction for every number in the arguments, by its path; what is one array has one."""
    rng = np.random.default_rng(100 + seed)
    made: dict[int, np.ndarray] = {}
    found = {}
    for path, x in numbers(args):
        direction = _direction(x, rng)
        shared = isinstance(x, np.ndarray | jax.Array)
        found[path] = made.setdefault(id(x), direction) if shared else direction
    return found


def moved(args: Args, along: Mapping[str, np.ndarray], step: float) -> Args:
    """The arguments, so far along a direction."""
    return tuple(_Replaced(lambda path, x: _like(x, np.asarray(x) + step * along[path]))(args))


def _along(args: Args, gradient: Mapping[str, Any], direction: Mapping[str, np.ndarray]) -> float:
    """The directional derivative that a gradient says: ndarrays that are one count once in each argument."""
    total, seen = 0.0, set()
    for path, x in numbers(args):
        argument = path[: path.index("]")], id(x)
        if isinstance(x, np.ndarray) and argument in seen:
            continue
        seen.add(argument)
        slope = gradient[path]
        assert np.shape(slope) == np.shape(x), f"the gradient by {path} has shape {np.shape(slope)}"
        assert type(slope) is type(x), f"the gradient by {path} is a {type(slope).__name__}"
        total += float(np.real(np.sum(np.asarray(slope) * direction[path])))
    return total


# ---------------------------------------------------------------- what is differentiated


@dataclass(frozen=True)
class Term:
    """One number among the results: the expression for it, its weights, and whether JAX made it."""

    path: str
    weights: np.ndarray
    is_jax: bool

    def text(self, number: int) -> str:
        """The term as a line of the sum."""
        sums = "jnp.sum" if self.is_jax else "np.sum"
        return f"    total = total + {sums}({self.path} * weights[{number}]).real"


class Program:
    """A function, and the weighted sum of its results as a function that can be staged and differentiated."""

    def __init__(
        self, function: Callable[..., Any], kwargs: dict[str, Any], compiled: bool, begin: Callable[[], None]
    ) -> None:
        self.function = function
        self.begin = begin
        self.running = nullcontext if compiled else interpreting
        self.kwargs = kwargs
        self.terms: list[Term] = []
        self.source = ""

    def run(self, args: Args) -> dict[str, Any]:
        """The numbers among the results of the plain run, and those in the arguments afterwards."""
        own, kwargs = copy.deepcopy((args, self.kwargs))
        self.begin()
        result = self.function(*own, **kwargs)
        return {**dict(numbers(result, "result")), **dict(numbers(own, "args"))}

    def prepare(self, args: Args) -> None:
        """Chooses the weights, and writes the function that is the sum."""
        before = dict(numbers(args, "args"))
        for number, (path, value) in enumerate(self.run(args).items()):
            if path in before and np.array_equal(before[path], value):
                continue
            if np.size(value) and np.all(np.isfinite(value)):
                self.terms.append(Term(path, _weights(value, number), isinstance(value, jax.Array)))
        lines = [term.text(number) for number, term in enumerate(self.terms)]
        head = ["def total_of_results(*args, **kwargs):", "    result = function(*args, **kwargs)"]
        self.source = "\n".join([*head, "    total = 0.0", *lines, "    return total", ""])
        self.total = _function(self.source, self.function, [term.weights for term in self.terms])
        self.argnums = tuple([i for i, x in enumerate(args) if any(True for _ in numbers(x))])

    def value(self, args: Args) -> float:
        """The sum, of the plain run."""
        found = self.run(args)
        return float(sum([np.real(np.sum(np.asarray(found[t.path]) * t.weights)) for t in self.terms]))

    def slope(self, args: Args, direction: Mapping[str, np.ndarray]) -> float | None:
        """The directional derivative by differences; None where those to both sides do not agree."""
        return slope_of(lambda step: self.value(moved(args, direction, step)))

    def gradient(self, args: Args) -> tuple[float, dict[str, Any]]:
        """The value and the gradient by what varies, by the paths of the arguments."""
        run = pystage.value_and_grad(self.total, self.argnums)
        self.begin()
        with self.running():
            value, found = run(*copy.deepcopy(args), **copy.deepcopy(self.kwargs))
        return float(value), self._by_path(found)

    def _by_path(self, parts: Sequence[Any]) -> dict[str, Any]:
        return {
            path: x
            for i, part in zip(self.argnums, parts, strict=True)
            for path, x in numbers(part, f"[{i}]")
        }

    def compare(self, args: Args, slopes: Sequence[float | None]) -> None:
        """Asserts that the gradient is JAX's, where JAX has one, or else the slope along each direction."""
        value, gradient = self.gradient(args)
        wanted = self.value(args)
        assert near(value, wanted), f"the value is {value}, not {wanted}"
        by_jax = self._of_jax(args)
        for path, theirs in by_jax.items():
            np.testing.assert_allclose(gradient[path], theirs, rtol=ERROR, atol=ERROR, err_msg=path)
        for seed, slope in enumerate(() if by_jax else slopes):
            found = _along(args, gradient, directions(args, seed))
            assert slope is not None and near(found, slope), f"the slope is {slope}, not {found}"

    def _of_jax(self, args: Args) -> dict[str, Any]:
        """JAX's gradient of the plain function; empty where it cannot trace it."""
        if not any(isinstance(x, jax.Array) for _, x in numbers(args)):
            return {}
        own = copy.deepcopy(args)

        def total(*varied: Any) -> Any:
            given = dict(zip(self.argnums, varied, strict=True))
            return self.total(*[given.get(i, x) for i, x in enumerate(own)], **self.kwargs)

        try:
            found = jax.jit(jax.grad(total, tuple(range(len(self.argnums)))))(*[own[i] for i in self.argnums])
        except (TypeError, ValueError, AttributeError, IndexError, NotImplementedError):
            return {}
        return self._by_path(found)

    def compare_second(self, args: Args) -> bool:
        """Asserts that the derivative of the gradient is the gradient's slope; False where there is none."""
        along, other = directions(args, 0), directions(args, 1)
        slope = slope_of(lambda step: _along(args, self.gradient(moved(args, along, step))[1], other))
        if slope is None:
            return False
        tangents = _Replaced(lambda path, x: _like(x, along[path]))(args)
        total, argnums, kwargs = self.total, self.argnums, self.kwargs

        def gradient(*args: Any) -> Any:
            return pystage.grad(total, argnums)(*args, **kwargs)

        self.begin()
        with self.running():
            _, found = pystage.jvp(gradient, copy.deepcopy(args), tangents)
        product = _along(args, self._by_path(found), other)
        assert near(product, slope), f"the second derivative is {slope}, not {product}"
        return True


def near(found: float, wanted: float) -> bool:
    """Whether two slopes are the same to the precision that differences have."""
    return abs(found - wanted) <= ERROR * (1 + abs(wanted))


def slope_of(value: Callable[[float], float]) -> float | None:
    """The slope at zero; None where it is not the same to both sides, a step and several steps away."""
    middle = value(0.0)
    slopes = [(value(step) - middle) / step for step in (STEP, -STEP, FAR * STEP, -FAR * STEP)]
    return (slopes[0] + slopes[1]) / 2 if all(near(slopes[0], slope) for slope in slopes) else None


def _weights(value: Any, number: int) -> np.ndarray:
    """Fixed numbers of the shape of a result, smaller where it is large."""
    rng = np.random.default_rng(number)
    made = rng.uniform(0.5, 1.5, np.shape(value)) / (1 + np.max(np.abs(np.asarray(value))))
    return made * (1 - 0.5j) if np.iscomplexobj(value) else made


def _function(source: str, function: Callable[..., Any], weights: list[np.ndarray]) -> Callable[..., Any]:
    """The function of a text, which `linecache` knows, as of a cell of a notebook."""
    name = f"<total {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"function": function, "weights": weights, "np": np, "jnp": jnp}
    exec(compile(source, name, "exec"), scope)
    made: Callable[..., Any] = scope["total_of_results"]
    return made
