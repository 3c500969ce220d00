"""The entry of inference: from a Python function and the specs of its arguments to a `Program`.

The arguments become cells and parameters, the function is called on them, and its result and the changes to the heap
become templates of results and mutations of the caller's objects.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import jax

from .. import limits
from ..diagnostics.codes_calls import EndlessRecursion, InternalError
from ..diagnostics.diagnostic import DiagnosticError
from ..diagnostics.errors import StagingError
from ..hlo.builder import Builder
from ..hlo.ir import Function, Value
from ..hlo.types import ShapeError, TooLarge
from ..library.rules.sequences import SEQUENCES, sequence_cell
from ..ops import Reshape, Slice
from ..ops.foreign.named_axes import CURRENT, NO_AXES
from ..stage import ir as stage
from ..stage.walk import walk
from ..values.boundary import (
    FACTORY,
    Argument,
    Draws,
    Failure,
    Form,
    GuardKind,
    LeafSpec,
    Mutation,
    Path,
    PathKey,
    PathStep,
    PathTemplate,
    Program,
    RowsSpec,
    Spec,
    StaticSpec,
    StructureSpec,
    Taken,
    Template,
    Write,
)
from ..values.demand import LoopDecisions, Statics
from ..values.generators import GENERATORS
from ..values.lattice import (
    DICT_CLASSES,
    NONE,
    Abstract,
    AnyList,
    Array,
    ArrayCell,
    Const,
    DictCell,
    ListCell,
    Method,
    ObjectCell,
    Partial,
    Range,
    Records,
    Ref,
    RowsCell,
    SliceObject,
    Tuple,
    VariableCell,
)
from ..values.memory import RecordClass
from ..values.state import OrderSensitivity
from ..values.vector import Vector
from ..values.walk import nodes
from .calls import meanings  # noqa: F401  (declares what they mean)
from .calls.hoist import Hoist
from .calls.parameters import arrange
from .calls.printing import skip_writes
from .diagnostics.errors import places_of_calls
from .exceptions.out_of_memory import raised
from .exceptions.raising import attempt
from .interpreter import Interpreter
from .reporting import shape_diagnostic
from .results.exits import Exit
from .state.effort import Exhausted
from .state.retry import Retry, WriteOut, decide
from .transforms import jax as jaxtransforms  # noqa: F401  (declares meanings)
from .transforms import (
    public,  # noqa: F401  (declares meanings)
    sharding,  # noqa: F401  (declares meanings)
)


def infer_program(
    function: Any,
    args: Sequence[Spec],
    kwargs: Mapping[str, Spec],
    *,
    name: str,
    static: Mapping[int, Any] | None = None,
) -> Program:
    """Infers `function` on arguments of these specs.

    `static` gives the values of argument leaves that inference demanded (`NeedsConstant`). Raises
    `StagingError` with every independent diagnostic.
    """
    loops = static.loops if isinstance(static, Statics) else LoopDecisions()
    refused: StagingError | None = None  # what was wrong where loops were rolled
    steps = 0
    for _ in range(limits.RESTARTS):
        engine = Interpreter(bool(jax.config.jax_enable_x64), loops, steps)
        engine.externals.generators.in_program = loops.in_program
        if isinstance(static, Statics):
            engine.externals.statics = static
            engine.axes = CURRENT.axes if static.traced else NO_AXES
            engine.origins.ask = static.ask
            engine.origins.expected = static.expected
        entry = _Entry(engine, static or {})
        try:
            return entry.run(function, args, kwargs, name)
        except Retry as retry:
            decide(loops, retry.reason)
            if isinstance(retry.reason, WriteOut):
                steps = engine.effort.steps
        except (Exhausted, StagingError) as error:
            if isinstance(error, Exhausted) and engine.origins.demands:
                loops.forget()
                engine.origins.ask_for_demands()  # with the numbers that it has asked for it may be small enough
            too_large = isinstance(error, Exhausted) and not engine.effort.ended_soon
            found = error if isinstance(error, StagingError) else _found_so_far(engine)
            if entry.few_rows and not too_large:
                loops.listed.update(dict.fromkeys(entry.few_rows, True))
                continue
            rolled = {**loops.appending, **engine.loops.alternatives}
            by_place = [loop for loop, goes in loops.by_place.items() if goes and loop not in loops.unrolled]
            if loops.unrolled.keys() >= rolled.keys() and not (by_place and _may_matter(by_place, found)):
                raise (too_large and refused) or found from None
            refused = refused if too_large else found
            loops.by_place.update(dict.fromkeys(loops.by_place, False))
            loops.unrolled |= rolled | loops.replaced
        finally:
            if isinstance(static, Statics):
                static.read += engine.externals.read
            engine.release()
    raise StagingError(
        (InternalError(text="inference does not settle which loops to unroll, and where to draw"),)
    )


def _found_so_far(engine: Interpreter) -> StagingError:
    """What is refused for certain where inference has ended before the program did, and that this is too large if so."""
    effort, certain = engine.effort, engine.errors.reported()[: engine.errors.certain]
    return StagingError(certain if effort.ended_soon else (*certain, effort.diagnostic(engine.b.span)))


def _may_matter(by_place: stage.Block, refused: StagingError) -> bool:
    """False where the program is refused because a function calls itself, and no trip of these loops calls it: what they
    leave behind then does not say how deep it goes."""
    if not all(isinstance(each, EndlessRecursion) for each in refused.diagnostics):
        return True
    calls = {span for each in refused.diagnostics for span in (each.span, *places_of_calls(each))}
    return any(i.span in calls for i in walk(by_place))


def _parameters(function: Any) -> tuple[tuple[str, ...], str | None, str | None, tuple[str, ...]]:
    """Positional parameters, `*args`, `**kwargs` and keyword-only parameters of a plain function."""
    code: types.CodeType | None = getattr(function, "__code__", None)
    if code is None:
        return (), None, None, ()
    count, only = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    rest = names[count + only :]
    star = rest[0] if code.co_flags & inspect.CO_VARARGS else None
    double = rest[1 if star else 0] if code.co_flags & inspect.CO_VARKEYWORDS else None
    return names[:count], star, double, names[count : count + only]


def positional_path(function: Any, position: int) -> Path:
    """The path of the argument at `position`."""
    names, star, _, _ = _parameters(function)
    if position < len(names):
        return Path(Argument(names[position]))
    return Path(Argument(star or f"argument {position}"), ((PathStep.ITEM, position - len(names)),))


def keyword_path(function: Any, name: str) -> Path:
    """The path of the argument passed as `name=…`."""
    names, _, double, only = _parameters(function)
    if name in names or name in only or double is None:
        return Path(Argument(name))
    return Path(Argument(double), ((PathStep.ITEM, name),))


def _child(path: Path, step: PathStep, key: Any) -> Path:
    """The path of what a container or an object has under a key."""
    return (
        path.attribute("default_factory") if key is FACTORY else Path(path.root, (*path.steps, (step, key)))
    )


def _largest_extent(params: Sequence[Value]) -> int:
    """The largest extent among these, or their number if that is larger."""
    return max([len(params), *[extent for p in params for extent in p.type.shape]])


def _row(b: Builder, element: Abstract, row: int) -> Abstract:
    """The element in a row of columns."""
    match element:
        case Const(column):
            return Const(column[row])
        case Tuple(items, cls):
            return Tuple(tuple([_row(b, item, row) for item in items]), cls)
        case Array(value):
            part = b.op(Slice((row,), (row + 1,), (1,)), value)
            return replace(element, value=b.op(Reshape(()), part))
    raise AssertionError(f"{element!r} is no column")


class _Entry:
    """The entry of one program: makes abstract arguments of specs, and the program of the result."""

    def __init__(self, engine: Interpreter, static: Mapping[int, Any]) -> None:
        self.engine = engine
        self.static = static
        self.leaves: dict[int, Value] = {}
        self.structures: dict[int, Ref | Records] = {}
        self.arrays: dict[int, Ref] = {}
        self.few_rows: list[PathKey] = []
        """The lists of few elements that are rows: what the program does with them may be staged element by element."""

    def run(
        self,
        function: Any,
        args: Sequence[Spec],
        kwargs: Mapping[str, Spec],
        name: str,
    ) -> Program:
        """The program of one call."""
        engine = self.engine
        abstract = [self.argument(spec, positional_path(function, i)) for i, spec in enumerate(args)]
        named = {k: self.argument(spec, keyword_path(function, k)) for k, spec in kwargs.items()}
        engine.externals.extent = _largest_extent(engine.root.params)
        if engine.externals.statics.skips_writes:
            skip_writes(engine)
        found: list[Abstract] = []
        try:
            attempt(engine, lambda: found.append(self._called(Const(function), abstract, named)))
        except DiagnosticError as error:
            engine.report(error.diagnostic)
        except Retry as retry:
            if not retry.refused:
                raise
            engine.errors.forget(retry.refused)
        self.engine.origins.ask_for_demands()
        self.check()
        leaving = Exit(engine)
        try:
            template = leaving.result(found[0] if found else NONE)
            printed = leaving.printed()
            mutations, failure = leaving.failure(leaving.mutations())
        except DiagnosticError as error:
            engine.report(error.diagnostic)
            self.check()
            raise
        self.engine.origins.ask_for_demands()
        self.note_distinct(mutations)
        self.note_writable(mutations)
        return replace(self.program(leaving, template, mutations, failure, name), printed=printed)

    def _called(self, function: Const, args: Sequence[Abstract], kwargs: Mapping[str, Abstract]) -> Abstract:
        """The result of the function, which may be a library's."""
        try:
            return self.engine.call(function, args, kwargs)
        except (TooLarge, MemoryError) as error:
            raise raised(self.engine, error, function, args, kwargs) from None
        except ShapeError as error:
            raise DiagnosticError(shape_diagnostic(self.engine, str(error))) from None

    def note_distinct(self, mutations: Sequence[Mutation]) -> None:
        """Guards that the caller's objects are different, where the program depends on it.

        A call with one object as two arguments is distinguished by its `pattern`; this is about the environment.
        """
        engine = self.engine
        externals = engine.externals
        shared = externals.generators.shared
        if any(not isinstance(path.root, Argument) for path in shared):
            externals.guard(GuardKind.DISTINCT, shared[0], shared)
        every = [
            (path.owner, isinstance(content, ArrayCell))
            for path, content in externals.initial.values()
            if not path.is_state and not isinstance(content, VariableCell)
        ]
        found: list[Path] = []
        stores = any(m.kind is Write.ARRAY for m in mutations)
        if stores:  # overlaps with arguments are found when results are stored
            found += [path for path, is_array in every if is_array and not isinstance(path.root, Argument)]
        if externals.depends_on_identity or any(m.kind is not Write.ARRAY for m in mutations):
            found += [path for path, is_array in every if externals.depends_on_identity or not is_array]
        paths = list({path.key: path for path in found}.values())
        if len(paths) > 1 and any(not isinstance(p.root, Argument) for p in paths):
            externals.guard(GuardKind.DISTINCT, paths[0], tuple(paths))

    def note_writable(self, mutations: Sequence[Mutation]) -> None:
        """Guards which of the caller's arrays that the program stores into are writable, and which are read-only."""
        externals, stored = self.engine.externals, self.engine.state.stored
        if not stored:
            return
        changed = {m.target for m in mutations if m.kind is Write.ARRAY}
        for cell, (path, content) in externals.initial.items():
            if path.is_state:
                continue
            if isinstance(content, ArrayCell) and (cell in stored or path in changed or not content.writable):
                externals.guard(GuardKind.WRITABLE, path, content.writable)

    def in_order(self, result: Template, mutations: Sequence[Mutation]) -> tuple[Path, ...]:
        """The caller's arrays whose memory must be in row-major order."""
        state = self.engine.state
        stored = {m.target for m in mutations if m.kind is Write.ARRAY}
        given = [node for root in (result, *[m.value for m in mutations]) for node in nodes(root)]
        seen = {node.path for node in given if isinstance(node, PathTemplate)}
        found: list[Path] = []
        for cell, (path, content) in self.engine.externals.initial.items():
            when = state.laid_out.get(cell)
            if when is None or not isinstance(content, ArrayCell):
                continue
            any_stored = OrderSensitivity.IF_ANY_STORED in when and state.stores
            is_seen = OrderSensitivity.IF_SEEN in when and (path in seen or path.owner in seen)
            if OrderSensitivity.ALWAYS in when or any_stored or is_seen or path in stored:
                found.append(path.owner)
        return tuple({path.key: path for path in found}.values())

    def program(
        self,
        leaving: Exit,
        template: Template,
        mutations: Sequence[Mutation],
        failure: Failure | None,
        name: str,
    ) -> Program:
        """The program, its parameters in the order of `leaves`, then hidden inputs, then draws."""
        engine = self.engine
        body = engine.root
        body.results = tuple(leaving.results)
        hidden = engine.externals.hidden
        places = {value: Taken(index, False) for index, value in self.leaves.items()}
        places |= {value: Taken(index, True) for index, (_, value) in enumerate(hidden)}
        generators, timed = engine.externals.generators, failure is not None
        draws: Draws | None = None
        drawn: list[Value] = []
        if engine.effects.draws or generators.handles:
            hoist = Hoist(engine.origins, generators, places, timed, engine.loops.unrolled, engine.known)
            draws, drawn = hoist.program(body)
            self.engine.origins.ask_for_demands()
        groups, draw_groups = arrange(body, list(self.leaves.values()), hidden, drawn)
        return Program(
            function=Function(name, body, catches=body in engine.raises.catching),
            leaves=tuple(self.leaves),
            hidden=tuple([h for h, _ in hidden]),
            groups=groups,
            guards=tuple(engine.externals.guards),
            result=template,
            mutations=tuple(mutations),
            alias_sensitive=len(self.structures) > 1
            and (
                engine.externals.depends_on_identity
                or any(m.kind is not Write.ARRAY or m.target.is_field for m in mutations)
            ),
            failure=failure,
            draws=None if draws is None else replace(draws, groups=draw_groups),
            in_order=self.in_order(template, mutations),
            multiplied=engine.effort.multiplied(),
            capacities=tuple(engine.raises.capacities.values()),
            steps=engine.effort.steps,
        )

    def check(self) -> None:
        """Raises all diagnostics that were found."""
        found = self.engine.errors.reported()
        if found:
            raise StagingError(found)

    # -- arguments

    def argument(self, spec: Spec, path: Path) -> Abstract:
        """The abstract value of an argument; mutable ones are cells that the caller sees."""
        match spec:
            case LeafSpec():
                return self.leaf(spec, path)
            case StaticSpec(value):
                return Const(value)
            case StructureSpec():
                return self.structure(spec, path)
            case RowsSpec():
                return self.rows(spec, path)

    def leaf(self, spec: LeafSpec, path: Path) -> Abstract:
        """A dynamic leaf: a parameter, or a constant where it was demanded."""
        engine, form = self.engine, spec.form
        if form is (ndarray := Form.NDARRAY) and spec.index in self.arrays:
            return self.arrays[spec.index]
        is_number = form is not ndarray and form is not Form.JAX
        if is_number and spec.index in self.static:
            return Const(self.static[spec.index])
        value = self.leaves.get(spec.index)
        if value is None:
            engine.effort.check_time()
            value = self.leaves[spec.index] = engine.root.add_param(spec.type)
            engine.origins.names[value] = path
            if is_number:
                engine.origins.places[value] = spec.index
        if form is not ndarray:
            return Array(value, form, spec.weak, key_impl=spec.key_impl)
        ref = self.arrays[spec.index] = Ref(self.cell(path, ArrayCell(value, spec.writable)))
        return ref

    def cell(self, path: Path, content: Any) -> int:
        """A cell for an object of the caller's."""
        state = self.engine.state
        cell = state.new_cell(content)
        self.engine.externals.initial[cell] = (path, content)
        return cell

    def rows(self, spec: RowsSpec, path: Path) -> Abstract:
        """A long list or tuple: rows of its columns, or its elements where some of them are constants."""
        if spec.identity in self.structures:
            return self.structures[spec.identity]
        element = self.element(spec.element, path)
        is_known = any(isinstance(node, Const) for node in nodes(element))
        if spec.cls is list and not is_known and path.key not in self.engine.loops.decisions.listed:
            content: AnyList = RowsCell(Vector(element, spec.length, spec.length))
            if spec.length <= limits.LISTED_ARRAY_ELEMENTS:
                self.few_rows.append(path.key)
        else:
            content = ListCell(tuple([_row(self.engine.b, element, i) for i in range(spec.length)]))
        if spec.cls is tuple:
            assert isinstance(content, ListCell)
            return Tuple(content.items)
        ref = self.structures[spec.identity] = Ref(self.cell(path, content))
        return ref

    def element(self, spec: Spec, path: Path) -> Abstract:
        """The template of the elements of a list, with a column, or a constant tuple of all numbers, for each number."""
        if isinstance(spec, LeafSpec):
            return self.leaf(spec, path)
        assert isinstance(spec, StructureSpec)
        return Tuple(tuple([self.element(child, path) for child in spec.children]), spec.cls)

    def bound(self, spec: StructureSpec, path: Path) -> Abstract:
        """A bound method, or a `functools.partial`."""
        parts = [self.argument(c, path.attribute(k)) for k, c in zip(spec.keys, spec.children)]
        if issubclass(spec.cls, types.MethodType):
            function, receiver = parts
            return Method(function, receiver, (path,))
        function, args, keywords = parts
        assert isinstance(args, Tuple) and isinstance(keywords, Ref)
        named = self.engine.state.get(keywords.cell).entries
        return Partial(function, args.items, tuple(named.items()))

    def generator(self, spec: StructureSpec, path: Path) -> Ref:
        """A generator of random numbers of the caller's."""
        bits = next((c for c in spec.children if isinstance(c, StructureSpec)), spec)
        content = self.engine.externals.generators.cell(spec.cls, path, bits.cls, ("argument", bits.identity))
        ref = self.structures[spec.identity] = Ref(self.cell(path, content))
        return ref

    def records(self, spec: StructureSpec, cls: type[RecordClass], path: Path) -> Records:
        """A structured ndarray of the caller's."""
        parts = [self.argument(c, path.field(leaf.names)) for leaf, c in zip(cls.leaves, spec.children)]
        made = self.structures[spec.identity] = Records(cls, tuple(parts), cls.dtype.itemsize)
        self.engine.externals.note_records(path, made)
        return made

    def structure(self, spec: StructureSpec, path: Path) -> Abstract:
        """A container or an object of the caller's."""
        engine = self.engine
        engine.effort.check_time()
        if issubclass(spec.cls, tuple):
            items = [self.argument(c, path.item(i)) for i, c in enumerate(spec.children)]
            return Tuple(tuple(items), spec.cls)
        if spec.identity in self.structures:
            return self.structures[spec.identity]
        if spec.cls in (slice, range):
            parts = [self.argument(c, path.attribute(k)) for k, c in zip(spec.keys, spec.children)]
            return SliceObject(*parts) if spec.cls is slice else Range(*parts)
        if issubclass(spec.cls, RecordClass):
            return self.records(spec, spec.cls, path)
        step = PathStep.ITEM
        if spec.cls is not list and spec.cls not in SEQUENCES and spec.cls not in DICT_CLASSES:
            if issubclass(spec.cls, (types.MethodType, functools.partial)):
                return self.bound(spec, path)
            if spec.cls in GENERATORS:
                return self.generator(spec, path)
            step = PathStep.ATTRIBUTE
        cell = engine.state.cell_number()
        ref = self.structures[spec.identity] = Ref(cell)
        engine.externals.initial[cell] = (path, None)  # its place is before those of what it holds
        children = [self.argument(c, _child(path, step, k)) for k, c in zip(spec.keys, spec.children)]
        content: Any
        if spec.cls is list:
            content = ListCell(tuple(children))
        elif spec.cls in SEQUENCES:
            kind = SEQUENCES[spec.cls]
            count = len(children) - len(kind.constants)
            elements: Any = ListCell(tuple(children[:count]))
            if kind.of_numbers and count == 1 and engine.is_ndarray(children[0]):
                listed = engine.call(engine.getattr(children[0], "tolist"), [])
                elements = engine.cell(cast(Ref, listed))
            held = Ref(self.cell(path, elements))
            content = sequence_cell(spec.cls, held, kind.constants_of(children[count:]))
        elif spec.cls in DICT_CLASSES:
            entries = dict(zip(spec.keys, children))
            factory = entries.pop(FACTORY, None)
            content = DictCell(entries, container=spec.cls, factory=factory)
        else:
            content = ObjectCell(spec.cls, dict(zip(spec.keys, children)))
        engine.state.set(cell, content)
        engine.externals.initial[cell] = (path, content)
        return ref
