"""Buckets: one program for many sizes of an axis; elements beyond the size of a call do not take part.

`compile(f, bucket={"x": {0: "pow2"}})` pads `x` along axis 0 to the next power of two and runs a small function around `f`,
written here as source: `lambda x, s: f(x[:s[0]])`, where `s` holds the size. So `f` gets an array of bounded extent
(`values/bounded.py`), whose rules leave out exactly what does not belong to it, in derivatives too. What would tell the
copy from the caller's array is not served: then `f` has a program for each size, as without buckets.
"""

from __future__ import annotations

import itertools
import linecache
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ..compiler.diagnostics.errors import StagingError
from ..compiler.values.boundary import (
    Argument,
    LeafSpec,
    Path,
    PathTemplate,
    Program,
    Spec,
    StructureSpec,
)
from ..compiler.values.walk import nodes
from .arguments.targets import Calling
from .function import CompiledFunction
from .reports.warnings import SpecialisationWarning, warn

if TYPE_CHECKING:
    from ..compiler.pipeline import Infer

Rule = str | int | tuple[int, ...]
"""`"pow2"`, a number of which buckets are multiples, or the sizes of the buckets."""
Place = tuple[int, int]
"""An argument, by its number in a call, and an axis of it."""
_FILE = "<buckets"
_files = itertools.count()


class NotInBuckets(Exception):
    """Raised where a function is indistinguishable from the plain one only without buckets; the text says why."""


def rules_of(bucket: Any, fn: Callable[..., Any], name: str) -> dict[str, dict[int, Rule]]:
    """The rules by parameter and axis, as given to `compile`. TypeError or ValueError for invalid ones."""
    calling = Calling(fn)
    if not isinstance(bucket, Mapping):
        raise TypeError(f'`bucket` is a dict such as {{"x": {{0: "pow2"}}}}, not {bucket!r}')
    found: dict[str, dict[int, Rule]] = {}
    for parameter, axes in bucket.items():
        if not (isinstance(parameter, str) and calling.has(parameter)):
            raise ValueError(f"`{name}` has no parameter `{parameter}` to put into buckets")
        found[parameter] = rules_by_axis(axes, f"`{parameter}`")
    return found


def rules_by_axis(axes: Any, what: str) -> dict[int, Rule]:
    """The rules by axis, as they are given. TypeError or ValueError for what is none."""
    if not isinstance(axes, Mapping):
        raise TypeError(f'the buckets of {what} are a dict by axis, such as {{0: "pow2"}}, not {axes!r}')
    if not all(type(axis) is int and axis >= 0 for axis in axes):
        raise ValueError(f"the axes of {what} are counted from 0, not {', '.join(map(repr, axes))}")
    return {axis: _rule(rule) for axis, rule in axes.items()}


def _rule(rule: Any) -> Rule:
    if rule == "pow2" or (type(rule) is int and rule > 0):
        return rule  # type: ignore[no-any-return]
    if isinstance(rule, Iterable) and not isinstance(rule, str):
        sizes = tuple(rule)
        if sizes and all(type(size) is int and size > 0 for size in sizes):
            return tuple(sorted(sizes))
    raise ValueError(
        f'a bucket is "pow2", a number of which sizes are multiples, or a list of sizes, not {rule!r}'
    )


def size_of(rule: Rule, size: int) -> int | None:
    """The bucket of a size; None where there is none."""
    if isinstance(rule, str):
        return 1 << max(size - 1, 0).bit_length()
    if isinstance(rule, int):
        return math.ceil(size / rule) * rule
    return next((bound for bound in rule if bound >= size), None)


def _call(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


def _leave_out_call(error: BaseException) -> None:
    """Removes the frames of the generated functions from a traceback."""
    before = error.__traceback__
    while before is not None and (frame := before.tb_next) is not None:
        if frame.tb_frame.f_code.co_filename.startswith(_FILE):
            before.tb_next = frame.tb_next
        else:
            before = frame


def function_of_text(text: str, scope: dict[str, Any]) -> Callable[..., Any]:
    """The function `call` of a source text; `scope` becomes its globals."""
    file = f"{_FILE} {next(_files)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), scope)
    return scope["call"]  # type: ignore[no-any-return]


def _compiled(
    function: Callable[..., Any], padded: frozenset[str], infer: Infer, name: str
) -> CompiledFunction[..., Any]:
    """A function, compiled strictly; it gets these parameters padded, and cuts them itself."""

    def infer_unaliased(*args: Any, **kwargs: Any) -> Program:
        program = infer(*args, **kwargs)
        _refuse_aliases(program, padded)
        return program

    return CompiledFunction(
        function,
        fallback=lambda: "error",
        tier=lambda: "compiled",
        donate=frozenset(),
        name=name,
        infer=infer_unaliased,
    )


class Buckets:
    """The programs of a function for arguments in buckets."""

    def __init__(self, fn: Callable[..., Any], name: str, bucket: Any, infer: Infer) -> None:
        self._fn, self._name, self._infer = fn, name, infer
        self._rules = rules_of(bucket, fn, name)
        self._calling = Calling(fn)
        self._made: dict[Any, Any] = {}
        """By number of arguments, keywords and places that share a size: the compiled function; None where it is refused."""

    def call(
        self,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        describe: Callable[..., Any],
        run: Callable[..., Any] = _call,
    ) -> tuple[Any] | None:
        """The result of the call; None for one that buckets do not serve. `describe` gives the specs of the arguments.

        `run` is done with the compiled function and its arguments.
        """
        prepared = self._prepared(args, kwargs, describe)
        if prepared is None:
            return None
        key, values = prepared
        try:
            return (run(self._made[key], values, {}),)
        except (StagingError, NotInBuckets) as error:
            if isinstance(error, StagingError) and error.started:
                raise
            reason = error.diagnostics[0].headline if isinstance(error, StagingError) else str(error)
        except Exception as error:
            _leave_out_call(error)
            raise
        self._made[key] = None
        warn(f"`{self._name}` is compiled for each size, not for buckets: {reason}", SpecialisationWarning)
        return None

    def _prepared(
        self, args: Sequence[Any], kwargs: dict[str, Any], describe: Callable[..., Any]
    ) -> tuple[Any, list[Any]] | None:
        """The key of the compiled function for a call, and its arguments; None for one that buckets do not serve."""
        names = [*self._calling.argument_names(len(args)), *kwargs]
        values = [*args, *kwargs.values()]
        sizes: dict[int, list[Place]] = {}
        for number, (name, value) in enumerate(zip(names, values, strict=True)):
            rules = self._rules.get(name)
            if rules is None:
                continue
            if not _is_plain(value) or max(rules, default=0) >= value.ndim:
                return None
            bounds = dict(enumerate(value.shape))
            for axis, rule in rules.items():
                size = value.shape[axis]
                bound = size_of(rule, size)
                if bound is None or size < 2:  # one element would be repeated along with what has more
                    return None
                bounds[axis] = bound
                sizes.setdefault(size, []).append((number, axis))
            values[number] = padded(value, tuple(bounds.values()))
        if not sizes or self._shares_memory(args, kwargs, names, describe):
            return None
        key = len(args), tuple(kwargs), tuple(map(tuple, sizes.values()))
        if key not in self._made:
            self._made[key] = self._function(*key)
        if self._made[key] is None:
            return None
        return key, [np.array(list(sizes)), *values]

    def programs(self) -> list[Any]:
        """The compiled functions."""
        return [made for made in self._made.values() if made is not None]

    def _shares_memory(
        self, args: Sequence[Any], kwargs: dict[str, Any], names: Sequence[str], describe: Callable[..., Any]
    ) -> bool:
        """True if an argument in a bucket is also part of another one, or overlaps one."""
        described = describe(args, kwargs)
        leaves = described.description.leaves
        specs = (*described.args, *described.kwargs.values())
        counted = Counter(itertools.chain.from_iterable(map(_leaves, specs)))
        for name, spec in zip(names, specs, strict=True):
            if name in self._rules and isinstance(spec, LeafSpec):
                mine = leaves[spec.index]
                if counted[spec.index] > 1:
                    return True
                if isinstance(mine, np.ndarray) and any(
                    other is not mine and isinstance(other, np.ndarray) and np.may_share_memory(mine, other)
                    for other in leaves
                ):
                    return True
        return False

    def _function(self, count: int, keywords: tuple[str, ...], shared: tuple[tuple[Place, ...], ...]) -> Any:
        """The compiled wrapper of the user's function: `s` has the sizes, each of which some axes share."""
        cuts: dict[int, dict[int, int]] = {}
        for i, places in enumerate(shared):
            for number, axis in places:
                cuts.setdefault(number, {})[axis] = i
        names = [f"a{i}" for i in range(count + len(keywords))]
        given = [f"{name}[{cut_text(cuts[i])}]" if i in cuts else name for i, name in enumerate(names)]
        given[count:] = [f"{name}={text}" for name, text in zip(keywords, given[count:], strict=True)]
        text = f"def call(s, {', '.join(names)}):\n    return function({', '.join(given)})\n"
        scope = {"function": self._fn, "__name__": "buckets"}
        cut = frozenset([names[number] for number in cuts])
        return _compiled(function_of_text(text, scope), cut, self._infer, self._name)


def _refuse_aliases(program: Program, padded: frozenset[str]) -> None:
    """Raises `NotInBuckets` if a program stores into or returns a padded argument, or stores into what no argument holds."""
    for mutation in program.mutations:
        if _name_of(mutation.target) in padded:
            raise NotInBuckets("it stores into an argument that is in a bucket")
        if not isinstance(mutation.target.root, Argument):
            raise NotInBuckets(
                "it stores into a global or an enclosing variable, which the argument may be a part of"
            )
    for template in (program.result, *[mutation.value for mutation in program.mutations]):
        for node in nodes(template):
            if isinstance(node, PathTemplate) and _name_of(node.path) in padded:
                raise NotInBuckets("it gives an argument that is in a bucket, or a view of one")


def _name_of(path: Path) -> str | None:
    return path.root.name if isinstance(path.root, Argument) else None


def cut_text(axes: Mapping[int, int]) -> str:
    """The text of an index that cuts axes at sizes, by their numbers; empty for none."""
    return ", ".join(
        [f":s[{axes[axis]}]" if axis in axes else ":" for axis in range(max(axes, default=-1) + 1)]
    )


def _is_plain(value: Any) -> bool:
    """True for an ndarray in row-major order, and for an array of JAX's on one device that is not traced."""
    if type(value) is np.ndarray:
        return value.flags.c_contiguous and value.dtype.isnative and value.dtype.kind in "biufc"
    return (
        isinstance(value, jax.Array)
        and not isinstance(value, jax.core.Tracer)
        and value.is_fully_addressable
        and len(value.devices()) == 1
        and not jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended)
    )


def padded(value: Any, shape: tuple[int, ...]) -> Any:
    """A copy of an array with zeros up to a shape. That of a CPU's array compiles nothing, whatever its shape."""
    if isinstance(value, jax.Array) and next(iter(value.devices())).platform != "cpu":
        return jax.numpy.pad(
            value, [(0, bound - size) for size, bound in zip(value.shape, shape, strict=True)]
        )
    larger = np.zeros(shape, value.dtype)
    larger[tuple(map(slice, value.shape))] = value
    if not isinstance(value, jax.Array):
        return larger
    with jax.enable_x64(True):
        return jax.device_put(larger, value.sharding if value.committed else None)


def _leaves(spec: Spec) -> Iterable[int]:
    """The leaves of a spec, once for each time that they occur."""
    if isinstance(spec, LeafSpec):
        yield spec.index
    elif isinstance(spec, StructureSpec):
        for child in spec.children:
            yield from _leaves(child)
