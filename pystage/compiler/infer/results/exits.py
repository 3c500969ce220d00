"""The exit of a program: templates of its results, mutations of the caller's objects, its failure."""

from __future__ import annotations

import collections
import types
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ...diagnostics.codes_mutation import CannotDelete, CannotReturn, CannotStore
from ...diagnostics.diagnostic import DiagnosticError
from ...frontend.code_equality import nested_codes
from ...hlo.ir import Value
from ...library.numpy.indexing.bounded import refuse
from ...library.numpy.indexing.bounded_identity import Truth, both, either, refuse_if, same_object
from ...library.rules.rows import from_first
from ...library.rules.sequences import ITEMS, SEQUENCES
from ...library.rules.tables import compacted
from ...ops import Compare, Select, constant
from ...values.boundary import (
    AbsentTemplate,
    Box,
    CallableMember,
    CallTemplate,
    CellVariable,
    ChoiceTemplate,
    ConstantTemplate,
    ContainerTemplate,
    Cut,
    Failure,
    Form,
    GeneratorTemplate,
    Global,
    MemberTemplate,
    Mutation,
    OutputTemplate,
    Path,
    PathTemplate,
    PoolTemplate,
    RowsTemplate,
    Template,
    ViewTemplate,
    Write,
)
from ...values.bounded import Bounded
from ...values.exceptions import ExceptionBuilder
from ...values.gated import Gated, GatedNumber, alternatives, narrow, narrow_number, number_of_kind, tag_of
from ...values.generators import GENERATORS, handle_of, has_handle, made_by, maker_of, resumed, state_of
from ...values.host_functions import caused
from ...values.identity import Identity
from ...values.lattice import (
    Abstract,
    AnyList,
    Array,
    ArrayCell,
    Caught,
    Cell,
    Closure,
    Const,
    DictCell,
    ErrorCell,
    Exc,
    ListCell,
    MemberCell,
    Method,
    ObjectCell,
    OutputCell,
    Partial,
    PoolCell,
    Pooled,
    Range,
    Records,
    Ref,
    RowsCell,
    RowsTuple,
    SetCell,
    SliceObject,
    Stamp,
    TableCell,
    Text,
    Tuple,
    Undef,
    Unknown,
    VariableCell,
)
from ...values.slots import Slot, Variable
from ...values.state import ERROR, NOT_YET, OUTPUT
from ...values.vector import Vector
from ...values.views import View, Window, broadcast, index_value
from ...values.walk import children, head, keys
from ..core.engine import Engine
from ..diagnostics.describe import describe
from ..state.merged import MERGEABLE, aliases_of, alone, may_alias_cells, unresolved_of
from ..state.phi import SELECTOR, DeferredSelect, selector_value
from .record_templates import RecordTemplates
from .shared_elements import check_elements

_PYTHON = {"b": bool, "i": int, "f": float, "c": complex}


class Exit:
    """Collects the results of a program and makes its templates and mutations."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.results: list[Value] = []
        self._index: dict[tuple[Value, bool], int] = {}
        self._made: dict[int, Template] = {}
        self._opened: set[int] = set()
        self._views: dict[Hashable, int] = {}
        self._handed_back: dict[Identity, tuple[Ref, Truth]] = {}
        self._exceptions: dict[Abstract, Template] = {}
        self._functions: dict[Abstract, Template] = {}
        self._bound: set[Hashable] = set()
        self._last: dict[Slot, list[Mutation]] = {}
        self._visible: dict[int, None] = {}
        self._pools: dict[int, PoolTemplate] = {}
        self.records = RecordTemplates(engine, self)
        self._bounded: dict[Hashable, tuple[Bounded, Template, Truth]] = {}
        self._condition: Truth = True  # under which what is described is the result

    def output(
        self,
        value: Value,
        form: Form,
        key_impl: str | None = None,
        weak: bool = False,
        writable: bool = True,
    ) -> OutputTemplate:
        """A result of the program."""
        index = self._index.get((value, weak))
        if index is None:
            index = self._index[value, weak] = len(self.results)
            self.results.append(value)
        scalar = _PYTHON[value.type.dtype.kind] if form is Form.PYTHON else None
        return OutputTemplate(index, form, scalar, key_impl, weak, writable)

    def result(self, value: Abstract) -> Template:
        """The template of the result of the program."""
        changed = [
            self.engine.state.slots[cell]
            for cell, (_, before) in self.engine.externals.initial.items()
            if self.engine.state.slots.get(cell, before) is not before
        ]
        state = self.engine.state
        changed += [state.get(slot) for slot in self.engine.namespaces.written(state)]
        self._visible = state.reachable([value, *changed])
        names = collections.Counter(
            source
            for cell in self._visible
            if aliases_of(state.slots.get(cell))
            for source in may_alias_cells(state.slots.get, cell)
        )
        self._visible.update({cell: None for cell, count in names.items() if count > 1})
        self.check_memory()
        check_elements(self.engine, value, changed, self._visible)
        self.records.gather([value, *changed, *map(state.slots.get, self._visible)])
        return self.template(value)

    def check_memory(self) -> None:
        """PS504 for arrays that share memory on some paths only, where nothing tells on which."""
        find = self.engine.state.slots.get
        visible = set().union(*[may_alias_cells(find, cell) for cell in self._visible])
        if any(unresolved_of(find(cell)) & visible for cell in visible):
            what = "an array that may share memory with another, depending on the path taken,"
            raise DiagnosticError(CannotReturn(span=self.engine.b.span, what=what))

    def printed(self) -> int | None:
        """The result that is available once all output is written; None if the program prints nothing."""
        cell = self.engine.state.slots[OUTPUT]
        assert isinstance(cell, OutputCell)
        return None if isinstance(cell.token, int) else self.output(cell.token, Form.PYTHON).index

    def template(self, value: Abstract) -> Template:
        """The template from which the runtime makes a Python object of `value`."""
        match value:
            case Const(v):
                return ConstantTemplate(v)
            case Array():
                return self.number(value)
            case Tuple():
                return self.container(value)
            case RowsTuple(rows):
                return replace(self.rows(rows, None), cls=tuple)
            case Ref():
                self.note_view(value)
                return self.reference(value)
            case Range(start, stop, step) | SliceObject(start, stop, step):
                parts = [
                    self.engine.known(p, "a part of a range or slice that is returned")
                    for p in (start, stop, step)
                ]
                return ConstantTemplate((range if isinstance(value, Range) else slice)(*parts))
            case Exc():
                return self.exception(value)
            case Caught(remake, values):
                return self.caught(value, remake, values)
            case Text(function, args):
                return CallTemplate(function, tuple([self.template(a) for a in args]))
            case Bounded():
                return self.bounded(value)
            case Records():
                return self.records.template(value)
            case Gated():
                return self.gated(value)
            case Undef():
                return AbsentTemplate()
            case Unknown(reason):
                raise DiagnosticError(reason)
            case Method():
                return self.method(value)
            case _:
                raise DiagnosticError(
                    CannotReturn(span=self.engine.b.span, what=describe(value, self.engine.state))
                )

    def method(self, value: Method) -> Template:
        """A bound method: the caller's own object, or a new one, which the caller may get in one place only."""
        function, receiver = value.function, value.receiver
        origin, *others = value.objects
        if others or not (isinstance(function, Const) and isinstance(function.value, types.FunctionType)):
            what = "a method that is one of several objects" if others else "a method of the library"
            raise DiagnosticError(CannotReturn(span=self.engine.b.span, what=what))
        if origin is not None:
            return PathTemplate(origin)
        bound = function.value, receiver.cell if isinstance(receiver, Ref) else id(receiver)
        if bound in self._bound:  # one object, or two that are equal
            what = "a method that the caller may get twice"
            raise DiagnosticError(CannotReturn(span=self.engine.b.span, what=what))
        self._bound.add(bound)
        return CallTemplate(types.MethodType, (self.template(function), self.template(receiver)))

    def exception(self, value: Exc) -> Template:
        """An exception, made after the run; the same each time."""
        found = self._exceptions.get(value)
        if found is None:
            args = tuple([self.template(a) for a in value.args])
            kwargs = tuple([(name, self.template(a)) for name, a in value.kwargs])
            found = CallTemplate(value.cls, args, kwargs, self.engine.state.cell_number())
            if value.cause is not None:
                cause = self.template(value.cause)
                found = CallTemplate(caused, (found, cause), (), self.engine.state.cell_number())
            self._exceptions[value] = found
        return found

    def caught(self, value: Caught, remake: ExceptionBuilder, values: tuple[Abstract, ...]) -> Template:
        """An exception that was raised and caught; the same each time."""
        found = self._exceptions.get(value)
        if found is None:
            parts = tuple([self.template(v) for v in values])
            found = self._exceptions[value] = CallTemplate(remake, parts, (), self.engine.state.cell_number())
        return found

    def gated(self, value: Gated) -> Template:
        """One of several objects; the certain one where it is certain here."""
        found = narrow(self.engine.b, self.engine.intervals, value)
        if not isinstance(found, Gated):
            return self.template(found)
        options: list[Template] = []
        outer = self._condition
        for position, option in enumerate(found.options):
            self._condition = both(self.engine, outer, tag_of(self.engine.b, found, position))
            options.append(self.template(option))
        self._condition = outer
        return self.selected(found.tags, options)

    def number(self, value: Array) -> Template:
        """A number or a `jax.Array`; a number of several kinds as one of them."""
        if isinstance(value, GatedNumber):
            value = narrow_number(self.engine.b, self.engine.intervals, value)
        if isinstance(value, GatedNumber):
            options = [self.number(number_of_kind(self.engine.b, value, i)) for i in range(len(value.kinds))]
            choice = self.selected(value.tags, options)
            return replace(choice, number=self.output(value.value, value.form))
        return self.output(value.value, value.form, value.key_impl, value.form is Form.JAX and value.weak)

    def selected(self, tags: Sequence[Value], options: Sequence[Template]) -> ChoiceTemplate:
        """The alternative of a gated φ that its tags select."""
        *first, last = options
        if len(tags) == 1:
            return ChoiceTemplate(self.output(tags[0], Form.PYTHON), (last, *first))
        return self.first_that_holds(tags, first, last)

    def reference(self, ref: Ref) -> Template:
        """A container, an object, an ndarray: the caller's own, or a new one, each made once."""
        engine = self.engine
        initial = engine.externals.initial.get(ref.cell)
        if ref.path:
            return self.view(ref)
        if initial is not None:
            return PathTemplate(initial[0])
        return self.records.field(ref) or self.own(ref)

    def own(self, ref: Ref) -> Template:
        """A new object with the contents of its cell, or the object that it is another name of."""
        engine = self.engine
        found = self._made.get(ref.cell)
        if found is not None:
            return found
        if ref.cell in self._opened:
            raise DiagnosticError(CannotReturn(span=engine.b.span, what="what contains itself"))
        self._opened.add(ref.cell)
        content = engine.contents_at(ref.cell)
        cell = content if isinstance(content, MemberCell) else engine.cell(ref)
        template = self._made[ref.cell] = self.chosen(cell, self.as_seen(ref, cell))
        return template

    def as_seen(self, ref: Ref, cell: Any) -> Template:
        """A new object with its contents; if the program has raised, with those at the time."""
        error = self.engine.state.slots[ERROR]
        assert isinstance(error, ErrorCell)
        versions = [v for v in error.versions if v.slot == ref.cell]
        now = self.contents(ref, cell)
        if not versions:
            return now
        before = [self.contents(ref, v.content) for v in versions]
        return self.first_that_holds([v.condition for v in versions], before, now)

    def first_that_holds(
        self, conditions: Sequence[Value], options: Sequence[Template], otherwise: Template
    ) -> ChoiceTemplate:
        """The option of the first condition that holds, which are bools of the program."""
        return ChoiceTemplate(self.output(self.first_of(conditions), Form.PYTHON), (otherwise, *options))

    def first_of(self, conditions: Sequence[Value]) -> Value:
        """The position, counted from 1, of the first of the conditions that holds; 0 where none does."""
        b = self.engine.b
        shape = conditions[0].type.shape

        def number(position: int) -> Value:
            return broadcast(b, constant(b, position, np.int32), shape)

        selector = number(0)
        for position, condition in reversed(list(enumerate(conditions, 1))):
            selector = b.op(Select(), condition, number(position), selector)
        return selector

    def contents(self, ref: Ref, cell: Any) -> Template:
        """A new object with these contents."""
        match cell:
            case MemberCell():
                return self.member(cell.pool, cell.place)
            case ArrayCell(value, writable):
                made = self.output(value, Form.NDARRAY, writable=writable is not False)
                return ViewTemplate(made, (), ref.cell)
            case ListCell() | DictCell() | RowsCell() | TableCell():
                return self.container(cell, ref.cell)
            case SetCell() as known:
                if known.history is not None:
                    return CallTemplate(known.history.replay, (), (), ref.cell)
                return CallTemplate(set, (ConstantTemplate(known.items),), (), ref.cell)
            case ObjectCell(cls=cls) if cls in GENERATORS:
                return self.generator(cell, ref.cell)
            case ObjectCell(cls=cls, fields=fields) if cls in SEQUENCES:
                kind = SEQUENCES[cls]
                parts = tuple([self.template(fields[name]) for name in (ITEMS, *kind.constants)])
                return CallTemplate(kind.make, parts, (), ref.cell)
            case ObjectCell() if not issubclass(cell.cls, BaseException):
                fields = {k: v for k, v in cell.fields.items() if not isinstance(v, Undef)}
                children = tuple([self.template(v) for v in fields.values()])
                return ContainerTemplate(cell.cls, tuple(fields), children, ref.cell)
        raise DiagnosticError(CannotReturn(span=self.engine.b.span, what=describe(ref, self.engine.state)))

    def generator(self, cell: ObjectCell, identity: int) -> Template:
        """A generator that the program has made, in the state in which it has left it."""
        make, state = maker_of(cell), state_of(cell)
        made: Template
        if isinstance(make, Ref):
            return CallTemplate(np.random.Generator, (self.template(make),), (), identity)
        if make is not None:
            made = CallTemplate(made_by, (self.template(make),))
        elif not has_handle(cell):  # a copy of one of the caller's, whose state the program has
            raise DiagnosticError(CannotReturn(span=self.engine.b.span, what="a copy of a random generator"))
        else:
            made = GeneratorTemplate(self.output(handle_of(cell), Form.PYTHON))
        return made if state is None else CallTemplate(resumed, (made, self.template(state)), (), identity)

    def container(
        self, x: Tuple | AnyList | DictCell | TableCell, identity: int | None = None
    ) -> ContainerTemplate | RowsTemplate:
        """A new tuple, list or dict; a set of elements that the program computes."""
        if isinstance(x, TableCell):
            entries = compacted(self.engine.b, x).entries
            return replace(self.rows(entries, identity), cls=x.container, factory=self.factory(x))
        if isinstance(x, RowsCell):
            return self.rows(x.items, identity)
        number = self.engine.state.cell_number() if identity is None else identity
        if isinstance(x, DictCell):
            values = tuple(map(self.template, x.entries.values()))
            return ContainerTemplate(x.container, tuple(x.entries), values, number, self.factory(x))
        cls = x.cls if isinstance(x, Tuple) else list
        held = alone(x)
        parts = tuple(map(self.template, children(held)))
        return ContainerTemplate(cls, tuple(keys(held)), parts, number)

    def factory(self, x: DictCell | TableCell) -> Template | None:
        """The `default_factory` of a new `defaultdict`."""
        if isinstance(x.factory, Closure):
            return self.function(x.factory)
        if isinstance(x.factory, Partial | Method):
            what = "a defaultdict whose default_factory is a function that the program makes"
            raise DiagnosticError(CannotReturn(span=self.engine.b.span, what=what))
        return None if x.factory is None else self.template(x.factory)

    def function(self, made: Closure) -> Template:
        """A new function of the same code, for one that the program makes without closing over its values."""
        own = made.function
        codes = [
            code
            for function in self.engine.externals.functions
            for code in nested_codes(function.__code__)
            if (code.co_qualname, code.co_firstlineno) == (own.qualname, own.span.line)
        ]
        if made.cells or made.defaults or made.kw_defaults or len(set(codes)) != 1:
            what = "a defaultdict whose default_factory takes variables or has parameters of its own"
            raise DiagnosticError(CannotReturn(span=self.engine.b.span, what=what))
        found = self._functions.get(made)
        if found is None:
            parts = (ConstantTemplate(codes[0]), ConstantTemplate(made.namespace), ConstantTemplate(own.name))
            number = self.engine.state.cell_number()
            found = self._functions[made] = CallTemplate(types.FunctionType, parts, (), number)
        return found

    def rows(self, x: Vector[Abstract], identity: int | None) -> RowsTemplate:
        """A new list of rows of results."""
        x = from_first(self.engine.b, x)
        length = x.length if isinstance(x.length, int) else self.output(x.length, Form.PYTHON)
        number = self.engine.state.cell_number() if identity is None else identity
        return RowsTemplate(self.rows_of(x.element), length, number)

    def member(self, pool: int, place: int | Value) -> MemberTemplate:
        """An object of a pool, or what refers to one in each row of a list."""
        at = place if isinstance(place, int) else self.output(place, Form.PYTHON)
        return MemberTemplate(self.pool(pool), at)

    def pool(self, number: int) -> PoolTemplate:
        """The objects of a pool, of which some are the caller's."""
        engine = self.engine
        if number not in self._pools:
            if number in self._opened:
                raise DiagnosticError(CannotReturn(span=engine.b.span, what="what contains itself"))
            self._opened.add(number)
            pool = engine.state.get(number)
            assert isinstance(pool, PoolCell) and pool.objects is not None
            contents = self.contents_of_rows(pool.objects.element)
            places: list[int | OutputTemplate] = []
            objects: list[Template] = []
            for cell, (path, _) in engine.externals.initial.items():
                member = engine.state.slots.get(cell)
                if isinstance(member, MemberCell) and member.pool == number:
                    place = member.place
                    places.append(place if isinstance(place, int) else self.output(place, Form.PYTHON))
                    objects.append(PathTemplate(path))
            identity = engine.state.cell_number()
            self._pools[number] = PoolTemplate(contents, tuple(places), tuple(objects), identity)
        return self._pools[number]

    def contents_of_rows(self, contents: Cell) -> Template:
        """The contents of an object of a pool, with all rows of each number as a result."""
        identity = self.engine.state.cell_number()
        match contents:
            case ListCell(items):
                return ContainerTemplate(
                    list, tuple(range(len(items))), tuple(map(self.rows_of, items)), identity
                )
            case DictCell(entries):
                return ContainerTemplate(
                    dict, tuple(entries), tuple(map(self.rows_of, entries.values())), identity
                )
            case ObjectCell(cls=cls, fields=fields):
                return ContainerTemplate(
                    cls, tuple(fields), tuple(map(self.rows_of, fields.values())), identity
                )
            case RowsCell(Vector(element, length=Value() as length)):
                return RowsTemplate(self.rows_of(element), self.output(length, Form.PYTHON), identity)
        raise AssertionError("no contents of objects of a pool")

    def rows_of(self, element: Abstract) -> Template:
        """The template of the elements of a list, with all rows of each number as a result."""
        match element:
            case Pooled(pool, place):
                return self.member(pool, place)
            case Bounded(whole=Array() as whole, extents=extents):
                cuts = [self.cut(each.axis, each.size) for each in extents]
                made = ViewTemplate(self.output(whole.value, whole.form), (), self.engine.state.cell_number())
                return ViewTemplate(made, tuple(cuts), self.engine.state.cell_number())
            case Bounded(whole=Ref() as memory):
                identity = self.engine.state.cell_number()
                return ViewTemplate(self.reference(memory), self.cuts(element), identity, of_all=True)
            case Tuple(items, cls):
                identity = self.engine.state.cell_number()
                return ContainerTemplate(
                    cls, tuple(range(len(items))), tuple(map(self.rows_of, items)), identity
                )
            case RowsTuple(Vector(inner, length=Value() as length)):
                count = self.output(length, Form.PYTHON)
                return RowsTemplate(self.rows_of(inner), count, self.engine.state.cell_number(), tuple)
            case Gated(options=alternatives, tags=tags):
                return self.selected(tags, list(map(self.rows_of, alternatives)))
            case GatedNumber(kinds=kinds, tags=tags):
                options = [
                    self.rows_of(number_of_kind(self.engine.b, element, place)) for place in range(len(kinds))
                ]
                which = self.first_of(tags)
                number = self.output(element.value, element.form)
                return ChoiceTemplate(self.output(which, Form.PYTHON), (options[-1], *options[:-1]), number)
            case Array():
                return self.output(element.value, element.form, element.key_impl, element.weak)
        return self.template(element)

    def view(self, ref: Ref) -> Template:
        """A view: of the caller's array, or of a result."""
        base = self.reference(Ref(ref.cell))
        steps = tuple([self.view_step(view) for view in ref.path])
        return ViewTemplate(base, steps, self.identity(ref.identity))

    def note_view(self, ref: Ref) -> None:
        """Notes a view that is handed back; refuses it where nothing tells whether it is the same object as another."""
        if not ref.path:
            return
        for other, condition in self._handed_back.values():
            self.refuse_doubt(ref, other, both(self.engine, self._condition, condition))
        _, condition = self._handed_back.get(ref.identity, (ref, False))
        self._handed_back[ref.identity] = ref, either(self.engine, self._condition, condition)

    def refuse_doubt(self, a: Ref, b: Ref, condition: Truth) -> None:
        """Refuses two views that are handed back under `condition`, where they may be one object or equal ones."""
        engine, b_ = self.engine, self.engine.b
        if engine.same_object(a, b) is not None:
            return
        for one, other in zip(a.path, b.path):
            if isinstance(one, Window) and isinstance(other, Window):
                for x, y in zip(one.starts, other.starts):
                    if x != y:
                        equal = b_.op(Compare("EQ"), index_value(b_, x), index_value(b_, y))
                        condition = both(engine, condition, equal)
        if condition is True:
            what = "a view that may be the same object as another, depending on the path taken,"
            raise DiagnosticError(CannotReturn(span=b_.span, what=what))
        refuse_if(engine, condition)

    def bounded(self, array: Bounded) -> Template:
        """A bounded array: the elements of its whole that belong to it."""
        whole = array.whole
        base = self.number(whole) if isinstance(whole, Array) else self.reference(whole)
        made: Template = ViewTemplate(base, self.cuts(array), self.identity(array.outline))
        if array.outline in self._bounded:
            _, found, condition = self._bounded[array.outline]
            self._bounded[array.outline] = array, found, either(self.engine, condition, self._condition)
            return found
        for other, template, condition in self._bounded.values():
            same, doubt = [
                both(self.engine, each, condition) for each in same_object(self.engine, array, other)
            ]
            refuse_if(self.engine, both(self.engine, doubt, self._condition))
            if isinstance(same, Value):
                made = self.selected([same], [template, made])
            elif same:
                made = template
        self._bounded[array.outline] = array, made, self._condition
        return made

    def cuts(self, array: Bounded) -> tuple[Cut, ...]:
        """The steps from the whole of a bounded array to it."""
        steps: list[Cut] = []
        for extent in array.extents:
            if extent.progression is None:
                refuse(self.engine, "a result", array)
            start, step, size = [
                n if isinstance(n, int) else self.output(n, Form.PYTHON)
                for n in (extent.progression.start, extent.progression.step, extent.progression.count)
            ]
            assert not isinstance(start, int) and not isinstance(size, int)
            steps.append(Cut(extent.axis, start, step, size))
        return tuple(steps)

    def cut(self, axis: int, size: Value | None) -> Cut:
        """The first elements of arrays along an axis, as many as `size` says of each."""
        assert size is not None
        b = self.engine.b
        zero = broadcast(b, constant(b, 0, np.int64), size.type.shape)
        return Cut(axis, self.output(zero, Form.PYTHON), 1, self.output(size, Form.PYTHON))

    def view_step(self, view: View) -> View | Box:
        """A view as the runtime makes it."""
        if not isinstance(view, Window) or view.static:
            return view
        return Box(
            tuple([s if isinstance(s, int) else self.output(s, Form.PYTHON) for s in view.starts]), view.sizes
        )

    def identity(self, view: Hashable) -> int:
        """A number for a view, the same for the same view object."""
        found = self._views.get(view)
        if found is None:
            found = self._views[view] = self.engine.state.cell_number()
        return found

    def may_be_visible(self, cell: Any) -> bool:
        """True if a merged cell may be an object that the caller has or gets under another name."""
        slots, initial = self.engine.state.slots, self.engine.externals.initial
        pending, seen = [cell], {id(cell)}
        for content in pending:
            for alias in content.aliases:
                if alias.stamp is Stamp.UNRESOLVED:
                    continue
                if alias.cell in initial or alias.cell in self._visible:
                    return True
                inner = slots.get(alias.cell)
                if getattr(inner, "aliases", ()) and id(inner) not in seen:
                    seen.add(id(inner))
                    pending.append(inner)
        return False

    def chosen(self, cell: Any, own: Template) -> Template:
        """The object of a merged cell: its own, or one that the caller has, or gets, under another name."""
        if isinstance(cell, MemberCell) or cell.selector == 0 or not self.may_be_visible(cell):
            return own
        objects: dict[Ref | None, int] = {None: 0}
        selector = self.position(cell, objects, {})
        if selector == 0:
            return own
        if isinstance(selector, int):
            return self.template(cast(Ref, list(objects)[selector]))
        options, b, outer = [own], self.engine.b, self._condition
        for ref, position in objects.items():
            if ref is not None:
                here = b.op(Compare("EQ"), selector, selector_value(b, position))
                self._condition = both(self.engine, outer, here)
                options.append(self.template(ref))
        self._condition = outer
        return ChoiceTemplate(self.output(selector, Form.PYTHON), tuple(options))

    def position(
        self, cell: Any, objects: dict[Ref | None, int], found: dict[int, int | Value]
    ) -> int | Value:
        """Which of `objects`, to which they are added, a merged cell is; `found` by the cells' contents, each once."""
        if id(cell) in found:
            return found[id(cell)]
        self.engine.effort.run()
        initial, slots = self.engine.externals.initial, self.engine.state.slots
        positions: list[int | Value] = [0]
        for alias in cell.aliases:
            content = slots.get(alias.cell)
            here: int | Value = 0
            if alias.stamp is Stamp.UNRESOLVED:
                pass
            elif alias.cell in initial or alias.cell in self._visible or alias.ref.path:
                here = objects.setdefault(alias.ref, len(objects))
            elif isinstance(content, MERGEABLE) and content.selector != 0:
                here = self.position(content, objects, found)
            positions.append(here)
        if isinstance(cell.selector, int):
            here = positions[cell.selector]
        elif all(position is positions[0] or position == positions[0] for position in positions):
            here = positions[0]
        else:
            here = selector_value(self.engine.b, DeferredSelect(SELECTOR, cell.selector, tuple(positions)))
        found[id(cell)] = here
        return here

    # -- mutations

    def mutations(self) -> list[Mutation]:
        """The mutations of a program: every object of the caller's whose contents differ from the start."""
        engine = self.engine
        found: list[Mutation] = []
        for cell, (_, before) in list(engine.externals.initial.items()):
            after = engine.state.slots.get(cell, before)
            if after is not before:
                self._last[cell] = self.changed(cell, after)
        for slot in engine.namespaces.written(engine.state):
            self._last[slot] = self.changed(slot, engine.state.get(slot))
        for mutations in self._last.values():
            found += mutations
        return found

    def changed(self, slot: Slot, content: Any) -> list[Mutation]:
        """The mutations that bring `content` to the caller."""
        if isinstance(slot, tuple):
            return self.assignment(slot, content)
        path, before = self.engine.externals.initial[slot]
        if isinstance(content, MemberCell):
            if not cast(PoolCell, self.engine.state.get(content.pool)).stored:
                return []
            content = self.engine.cell(Ref(slot))
        return self.mutation(path, before, content)

    def failure(self, mutations: list[Mutation]) -> tuple[list[Mutation], Failure | None]:
        """How the program reports that it has raised, if it can; and the mutations, of which some apply only then.

        Made last, so that what only a raise needs are the last results.
        """
        error = self.engine.state.slots[ERROR]
        assert isinstance(error, ErrorCell)
        if error.code == 0:
            return mutations, None
        first = len(self.results)
        code = error.code if isinstance(error.code, int) else self.output(error.code, Form.PYTHON)
        payload = {key: self.output(value, Form.NDARRAY).index for key, value in error.payload.items()}
        conditions: dict[Slot, tuple[int, ...]] = {}
        found: list[Mutation] = []
        for version in error.versions:
            if isinstance(version.slot, int) and version.slot not in self.engine.externals.initial:
                continue  # a new object: what refers to it says what it holds (`as_seen`)
            if isinstance(version.slot, tuple) and version.slot[0] not in self.engine.namespaces.owners:
                continue  # a variable of a function that a handler went on with: the caller does not see it
            before = conditions.get(version.slot, ())
            only = self.output(version.condition, Form.PYTHON).index
            for mutation in self.changed(version.slot, version.content):
                found.append(replace(mutation, only=only, unless=before))
            conditions[version.slot] = (*before, only)
        for slot, last in self._last.items():
            found += [replace(m, unless=conditions.get(slot, ())) for m in last]
        return found, Failure(code, self.engine.raises.sites.find, payload, first)

    def assignment(self, slot: Variable, value: Any) -> list[Mutation]:
        """The mutation of a global variable, or of an attribute of a class; none where it was not assigned yet."""
        owner, name = self.engine.namespaces.owners[slot[0]], slot[1]
        assert isinstance(name, str)
        of_class = isinstance(owner, type)
        path = Path(
            CallableMember(owner, owner.__qualname__) if isinstance(owner, type) else Global(owner, name)
        )
        what = f"the attribute {path}.{name}" if of_class else f"the global variable {name!r}"
        if value is NOT_YET:
            return []
        _check_not_deleted(value, what)
        return [
            Mutation(Write.ATTRIBUTE if of_class else Write.GLOBAL, path, name, self.template(value), None)
        ]

    def mutation(self, path: Path, before: Any, after: Any) -> list[Mutation]:
        """The mutations of one object."""
        match before, after:
            case ArrayCell(), ArrayCell():
                if before.value is after.value:
                    return []
                if path.is_state:
                    words = self.output(after.value, Form.NDARRAY)
                    return [Mutation(Write.STATE, Path(path.root, path.steps[:-1]), None, words, None)]
                return [Mutation(Write.ARRAY, path, None, self.output(after.value, Form.NDARRAY), None)]
            case ((ListCell() | RowsCell()), (ListCell() | RowsCell())) | (
                (DictCell() | TableCell()),
                (DictCell() | TableCell()),
            ):
                if _is_same(alone(before), alone(after)):
                    return []
                kind = Write.DICT if isinstance(after, DictCell | TableCell) else Write.LIST
                return [Mutation(kind, path, None, self.container(after), None)]
            case ObjectCell(), ObjectCell():
                return self.attributes(path, before, after)
            case VariableCell(), VariableCell():
                if not isinstance(path.root, CellVariable):
                    return []
                held = after.value
                _check_not_deleted(held, f"the variable {path}")
                return [Mutation(Write.CELL, path, None, self.template(held), None)]
        if isinstance(after, Unknown):
            raise DiagnosticError(after.reason)
        raise DiagnosticError(CannotStore(span=self.engine.b.span, what=f"the captured object {path}"))

    def attributes(self, path: Path, before: ObjectCell, after: ObjectCell) -> list[Mutation]:
        """The attributes of an instance that were set or deleted."""
        found: list[Mutation] = []
        if after.cls in SEQUENCES:  # whose elements stand in a cell of their own
            return found
        for name, value in after.fields.items():
            old = before.fields.get(name) or (before.origin(name) if before.origin else None)
            if _is_same(old, value):
                continue
            if old is not None or not isinstance(value, Undef):  # not only set and deleted by the program
                found.append(Mutation(Write.ATTRIBUTE, path, name, self.template(value), None))
        return found


def _check_not_deleted(value: Abstract, what: str) -> None:
    """PS507 for a variable of the caller's environment that some path deletes."""
    first = alternatives(value)[0]
    if isinstance(first, Undef) and (first is value or first.span is not None):
        raise DiagnosticError(CannotDelete(span=first.span, what=what))


def _is_same(old: Any, new: Any) -> bool:
    """True if these are the same objects or contents, so that nothing needs to be written back."""
    if isinstance(old, Array) and isinstance(new, Array):  # its bounds say no more of the object
        return old.value is new.value and old.form is new.form
    if type(old) is type(new) and isinstance(
        old, Ref | Tuple | ListCell | RowsCell | DictCell | TableCell | Vector
    ):
        return head(old) == head(new) and all(map(_is_same, children(old), children(new)))
    return bool(old == new)
