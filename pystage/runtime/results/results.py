"""Results and mutations of a run: builds the caller's objects from the outputs, and applies the program's mutations.

A `Plan` is compiled once for each program, from its templates. It turns the output arrays into the objects that the plain
run would have returned, then applies the mutations of the plain run, in order.
"""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, NoReturn, TypeGuard

import numpy as np

from ...compiler.diagnostics.codes_runtime import NotInOrder, OutOfMemory, OverlappingMemory
from ...compiler.diagnostics.diagnostic import Diagnostic
from ...compiler.diagnostics.errors import StagingError
from ...compiler.diagnostics.span import Span
from ...compiler.hlo.types import MOST_BYTES
from ...compiler.library.rules.sequences import SEQUENCES
from ...compiler.values.boundary import (
    AbsentTemplate,
    CellVariable,
    ConstantTemplate,
    ContainerTemplate,
    Form,
    Global,
    Mutation,
    OutputTemplate,
    Program,
    RecordsTemplate,
    Template,
    ViewTemplate,
    Write,
)
from ...compiler.values.capacity import CapacityExceeded, next_capacities
from ...compiler.values.evaluation import Make
from ...compiler.values.generators import set_words
from ...compiler.values.lattice import same_constant
from ...compiler.values.node import TreeNode
from ...compiler.values.walk import children
from ...config import config
from ...records import dataclass
from ..arguments.signature import Signature
from ..guards.environment import resolve
from ..outcomes import Outgrown, Raised
from ..random.draws import Performance
from .exceptions import code_of, raise_from_host, raised
from .host_memory import Received, adopted, overlapping
from .objects import Execution, Objects, new_array
from .packing import Packing

Prepare = Callable[[Execution], Callable[[], None]]
"""Finds the target and the value of a mutation, and gives what does it."""


@dataclass(frozen=True, slots=True)
class Single:
    """The construction of a result from a single array; equal for programs that construct it alike."""

    way: tuple[Form, type | None, bool]
    convert: Callable[[Any], Any] = field(compare=False)


class Plan:
    """The construction of the results and the mutations after a run of one program."""

    def __init__(
        self, program: Program, signature: Signature, traced: bool = False, packing: Packing | None = None
    ) -> None:
        self._signature = signature
        self._traced = traced
        found: list[OutputTemplate] = []
        views: set[int] = set()
        for template in _templates(program):
            _collect_outputs(template, found, views)
        uses = Counter(output.index for output in found)
        bases: Counter[int] = Counter()
        for template in _templates(program):
            _count_bases(template, bases, set())
        self.packing = packing
        """How the program gives its results, where it does not give one after the other."""
        numbers = packing.numbers if packing is not None else frozenset()
        self._objects = Objects(signature, program.function.result_types, uses, bases, traced, numbers)
        self._failure = program.failure
        self._printed = program.printed
        self._capacities = program.capacities
        self._clock = program.draws.clock if program.draws is not None else None
        self._mutations = [(m, self._mutation(m)) for m in program.mutations]
        self._stored = [resolve(m.target, signature) for m in program.mutations if m.kind is Write.ARRAY]
        self._stored_paths = [str(m.target) for m in program.mutations if m.kind is Write.ARRAY]
        self._leaves = frozenset(program.leaves)
        self._in_order = [(resolve(path, signature), str(path)) for path in program.in_order]
        self.checks_memory = bool(self._stored or self._in_order)
        """True if it matters how ndarrays of the caller lie in memory: `check_memory` comes before `finish`."""
        self.build: Make = self._objects.make(program.result)
        self.keys = {output.index: output.key_impl for output in found if output.key_impl}
        """The results that are typed PRNG keys: index and generator."""
        self._reads = any(output.form is not Form.JAX for output in found) or self._failure is not None
        """True if `finish` waits for the program anyway, because it looks at a result."""
        acts = bool(program.mutations or program.in_order or program.failure or program.printed is not None)
        self.single: Single | None = None
        """How the result is made of the program's one array, where nothing else is to be done."""
        if not (acts or traced) and self._reads:
            only = program.result.base if _is_whole(program.result) else program.result
            if isinstance(only, OutputTemplate) and not only.key_impl:
                convert = self._objects.conversion(only)
                self.single = Single((only.form, only.scalar, convert is adopted), convert)
        self.direct = not acts and _is_direct(program.result, set())
        """True if `build` only arranges `jax.Array`s in tuples and lists: `jax.jit` can do that itself."""

    def waits(self, memory: bool) -> bool:
        """True if `finish` waits for the program."""
        return self._reads or memory or (self._printed is not None and not self._traced)

    def arrange(self, values: Sequence[Any]) -> Any:
        """The result of a direct plan, made of the values themselves."""
        return self.build(Execution(values, {}, (), {}))

    def finish(
        self,
        values: Sequence[Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        memory: bool,
        performance: Performance | None = None,
    ) -> Any:
        """The result of the call; `Raised` for what the program raises. `memory`: it reads the caller's memory.

        `Outgrown` if it has exceeded a capacity; then nothing is changed but for what it has printed.
        """
        if self.packing is not None:
            values = self.packing.unpacked(values)
        run = Execution(values, {}, args, kwargs, performance)
        if self._printed is not None and not self._traced:
            values[self._printed].block_until_ready()
        if self._failure is not None:
            evaluate = functools.partial(self._evaluate, args, kwargs)
            if self._traced:
                raise_from_host(self._failure, values, evaluate)
            elif number := code_of(self._failure, values):
                error = raised(self._failure, number, values, evaluate)
                if isinstance(error.exception, CapacityExceeded):
                    end = error.exception
                    capacities = next_capacities(end, self._capacities, config.capacity_bytes)
                    if capacities is not None:
                        if performance is not None:
                            performance.undo()
                        writes = None if self._printed is None else int(np.asarray(values[self._printed]))
                        raise Outgrown(end, capacities, writes)
                    error = Raised(_without_memory(end), error.traceback)
                if isinstance(error.exception, StagingError):
                    error.exception.started = self._printed is not None
                    if performance is not None:
                        performance.undo()
                    raise error
                if performance is not None and self._clock is not None:
                    performance.rewind(int(np.asarray(values[self._clock])))
                self._change(run, [m for m in self._mutations if _is_seen(m[0], values)])
                raise error
        if memory and values and not self._reads:
            # The caller may change its arrays as soon as the call returns.
            values[0].block_until_ready()
        result = self.build(run)
        if self._mutations:
            self._change(run, [m for m in self._mutations if m[0].only is None])
        return result

    def _change(self, run: Execution, mutations: list[tuple[Mutation, Prepare]]) -> None:
        for apply in [prepare(run) for _, prepare in mutations]:
            apply()

    def _evaluate(
        self, args: Sequence[Any], kwargs: dict[str, Any], template: Template, values: Sequence[Any]
    ) -> Any:
        """The object that a template describes; its outputs count `values`."""
        return self._objects.of_arrays().make(template)(Execution(values, {}, args, kwargs))

    def check_memory(
        self, args: Sequence[Any], kwargs: dict[str, Any], received: Sequence[Received], span: Span | None
    ) -> None:
        """StagingError if a store of the program would change another array (PS806), or an array is not in order (PS814)."""
        for follow, path in self._in_order:
            array = follow(args, kwargs)
            if isinstance(array, np.ndarray) and not array.flags.c_contiguous:
                self._refuse(NotInOrder(span=span, path=path))
        stored = [(follow(args, kwargs), path) for follow, path in zip(self._stored, self._stored_paths)]
        seen = [r for i, r in enumerate(received) if self._looks_at(i, r)]
        pair = overlapping(stored, seen)
        if pair is not None:
            name, other = self._stored_paths[pair[0]], seen[pair[1]]
            paths = [r.path for r in received if r.value is other.value and r.path != name]
            problem = OverlappingMemory(span=span, stored=name, other=(paths or [other.path])[0])
            self._refuse(problem)

    def _looks_at(self, index: int, received: Received) -> bool:
        """False for a leaf that the program does not use, as of the second occurrence of records."""
        return received.from_environment or index in self._leaves or received.path in self._stored_paths

    def _refuse(self, problem: Diagnostic) -> NoReturn:
        error = StagingError((problem,))
        error.started = self._printed is not None
        raise error

    # -- mutations

    def _mutation(self, mutation: Mutation) -> Prepare:
        """A function that finds target and value of a mutation before any is applied, and gives the function that applies
        it.
        """
        kind, key, root = mutation.kind, mutation.key, mutation.target.root
        if kind in (Write.ARRAY, Write.STATE) and isinstance(mutation.value, OutputTemplate):
            index = mutation.value.index
            value: Make = lambda run: np.asarray(run.values[index])  # noqa: E731
        else:
            value = self._objects.make(mutation.value)
        if kind is Write.GLOBAL:
            assert isinstance(root, Global)
            namespace = root.namespace
            return lambda run: functools.partial(_write_global, namespace, key, value(run))
        if kind is Write.CELL:
            assert isinstance(root, CellVariable)
            cell = root.cell
            return lambda run: functools.partial(_write_cell, cell, value(run))
        write = _WRITES[kind]
        target = resolve(mutation.target, self._signature)
        return lambda run: functools.partial(write, target(run.args, run.kwargs), key, value(run))


def _without_memory(end: CapacityExceeded) -> MemoryError | StagingError:
    """The exception for a call that needs a larger capacity than allowed; a refusal where no machine could have it."""
    capacity = end.capacity
    if end.needed * capacity.itemsize >= MOST_BYTES:
        what = f"{capacity.site.what}, of {end.needed} elements,"
        return StagingError((OutOfMemory(span=capacity.site.span, what=what),))
    what = f"a capacity of {end.needed} elements of {capacity.itemsize} bytes for {capacity.site.what}"
    limit = config.capacity_bytes
    error = MemoryError(f"{what} is more than pystage.config.capacity_bytes, {limit}, allows")
    error.__context__ = end.__context__
    return error


def _is_seen(mutation: Mutation, values: Sequence[Any]) -> bool:
    """True if a program that has raised made this change before."""
    if any(values[i] for i in mutation.unless):
        return False
    return mutation.only is None or bool(values[mutation.only])


def _write_array(target: Any, key: Any, value: Any) -> None:
    target[...] = value


def _write_attribute(target: Any, key: Any, value: Any) -> None:
    if isinstance(value, AbsentTemplate):
        with contextlib.suppress(AttributeError):  # which some paths may not have set at all
            object.__delattr__(target, key)
    elif isinstance(target, type):
        setattr(target, key, value)
    else:
        object.__setattr__(target, key, value)


def _write_global(namespace: dict[str, Any], key: str, value: Any) -> None:
    if not isinstance(value, AbsentTemplate):
        namespace[key] = value


def _write_cell(cell: Any, value: Any) -> None:
    if not isinstance(value, AbsentTemplate):
        cell.cell_contents = value


def _write_list(target: Any, key: Any, value: Any) -> None:
    kind = SEQUENCES.get(type(target))
    if kind is not None:
        kind.fill(target, value)
    else:
        target[:] = value


def _write_dict(target: Any, key: Any, value: Any) -> None:
    """Deletes and adds only the entries that differ, so that an iteration over the dict can continue."""
    keys = iter(value)
    kept = next(keys, keys)
    for own in [*dict.keys(target)]:
        if same_constant(own, kept):
            kept = next(keys, keys)
        else:
            dict.__delitem__(target, own)
    for own, element in value.items():  # `update` of an empty dict would make another table
        dict.__setitem__(target, own, element)


def _write_state(target: Any, key: Any, value: Any) -> None:
    set_words(target, value)


_WRITES: dict[Write, Callable[[Any, Any, Any], None]] = {
    Write.ARRAY: _write_array,
    Write.ATTRIBUTE: _write_attribute,
    Write.LIST: _write_list,
    Write.DICT: _write_dict,
    Write.STATE: _write_state,
}


def _templates(program: Program) -> list[Template]:
    return [program.result, *[m.value for m in program.mutations]]


def _collect_outputs(template: TreeNode, found: list[OutputTemplate], views: set[int]) -> None:
    """Adds every `OutputTemplate` in the template; those under one view, wherever it occurs, once."""
    if isinstance(template, ViewTemplate):
        if template.identity in views:
            return
        views.add(template.identity)
    if isinstance(template, OutputTemplate):
        found.append(template)
    for inner in children(template):
        _collect_outputs(inner, found, views)


def _count_bases(template: TreeNode, bases: Counter[int], views: set[int]) -> None:
    """Adds the number of result objects that share the memory of each new array, by its identity."""
    if isinstance(template, ViewTemplate):
        if template.identity in views:
            return
        views.add(template.identity)
        base = new_array(template)
        if base is not None:
            bases[base.identity] += 2 if template.of_all else 1
            return
    if isinstance(template, RecordsTemplate):
        bases[template.identity] += 1
    for inner in children(template):
        _count_bases(inner, bases, views)


def _is_whole(template: Template) -> TypeGuard[ViewTemplate]:
    """True for a view of all of an array: inference names a new ndarray so."""
    return isinstance(template, ViewTemplate) and not template.steps


def _is_direct(template: Template, seen: set[tuple[type, int]]) -> bool:
    """True if the template is made of `jax.Array`s, tuples and lists, none of which occurs twice."""
    match template:
        case ConstantTemplate(value=None):
            return True
        case OutputTemplate(form=Form.JAX, index=number) | ContainerTemplate(identity=number):
            key = (type(template), number)
            if key in seen:
                return False
            seen.add(key)
            if isinstance(template, OutputTemplate):
                return True
            return template.cls in (tuple, list) and all(_is_direct(c, seen) for c in template.children)
    return False
