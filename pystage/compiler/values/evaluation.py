"""Evaluation of templates: the objects that they describe, after a run of the program.

In: a template. Out: a function of a run, which an evaluator makes once and the run's owner calls any number of times. What
a template gives that refers to the program's results or to the caller's objects depends on who evaluates: the runtime
makes what the plain run gives (`runtime/results/objects.py`), and the host, while a program runs, what is printed
(`host_evaluation.py`).
"""

from __future__ import annotations

import abc
import copy
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NoReturn

import numpy as np

from ...records import dataclass
from .boundary import (
    AbsentTemplate,
    CallTemplate,
    ChoiceTemplate,
    ConstantTemplate,
    ContainerTemplate,
    Form,
    GeneratorTemplate,
    MemberTemplate,
    OutputTemplate,
    PathTemplate,
    PoolTemplate,
    RecordsTemplate,
    RowsTemplate,
    Template,
    ViewTemplate,
)


@dataclass(slots=True)
class Evaluation:
    """The results of one run of a program, and the objects made of them so far."""

    values: Sequence[Any]
    made: dict[int, Any]
    """Objects by the identity of their templates; views by its complement."""
    pools: dict[int, dict[Any, Any]] = field(init=False, default_factory=dict)
    """The objects of pools by the identity of these and their rows."""


Make = Callable[[Any], Any]
"""Makes the object of a run."""

Column = Callable[[Any, int], list[Any]]
"""Makes the first so many objects of rows of a run's results."""

Elements = Callable[[Any, int], list[Any]]
"""Makes an object of each of the first so many rows of an array."""


def _contained(cls: type, elements: list[Any]) -> Any:
    """A new container of its elements, or entries."""
    if cls is list:
        return elements
    if cls is tuple:
        return tuple(elements)
    if cls is set:
        return {key for key, _ in elements}
    made = cls()
    dict.update(made, elements)
    return made


class Evaluator(abc.ABC):
    """Compiles templates to functions from a run to the object that the template describes."""

    def make(self, template: Template) -> Make:
        """The function that makes the object."""
        match template:
            case ConstantTemplate(value=value):
                return lambda run: value
            case OutputTemplate():
                return self.output(template)
            case PathTemplate():
                return self.same(template)
            case ViewTemplate():
                return once(~template.identity, self.view(template))
            case RecordsTemplate(identity=identity):
                return once(identity, self.records(template))
            case GeneratorTemplate():
                return self.generator(template)
            case ChoiceTemplate():
                return self.choice(template)
            case AbsentTemplate():
                return lambda run: template
            case CallTemplate(function=function, args=args, kwargs=kwargs, identity=identity):
                parts = [self.make(a) for a in args]
                named = [(name, self.make(a)) for name, a in kwargs]
                return once(
                    identity or id(template),
                    lambda run: function(*[p(run) for p in parts], **{n: m(run) for n, m in named}),
                )
            case ContainerTemplate():
                return self._container(template)
            case MemberTemplate():
                return self.member(template)
            case RowsTemplate():
                return once(template.identity, self.rows(template))

    @abc.abstractmethod
    def output(self, output: OutputTemplate) -> Make:
        """The function for the object of a result."""

    @abc.abstractmethod
    def view(self, view: ViewTemplate) -> Make:
        """The function for a view."""

    @abc.abstractmethod
    def elements(self, output: OutputTemplate) -> Elements:
        """The function for the objects of the rows of a result."""

    def rows(self, rows: RowsTemplate) -> Make:
        """The function for a list of rows of results, a dict or a set."""
        length, column, cls = rows.length, self.column(rows.element), rows.cls
        make: Make = lambda run: _contained(  # noqa: E731
            cls, column(run, length if isinstance(length, int) else int(run.values[length.index]))
        )
        return make if rows.factory is None else _with_factory(make, self.make(rows.factory))

    def column(self, template: Template) -> Column:
        """The function for the first objects that `template` describes, of which results have the rows."""
        match template:
            case OutputTemplate(index=index):
                elements = self.elements(template)
                return lambda run, count: elements(run.values[index], count)
            case ContainerTemplate(cls=cls, children=children) if children:
                columns = [self.column(child) for child in children]
                if cls is tuple:
                    return lambda run, count: list(zip(*[column(run, count) for column in columns]))
                return lambda run, count: [
                    tuple.__new__(cls, parts) for parts in zip(*[column(run, count) for column in columns])
                ]
            case ChoiceTemplate():
                return self.selected(template)
            case ViewTemplate() | RowsTemplate():
                make, host_rows = self.make(template), self.host_rows(template)

                def made(run: Any, count: int) -> list[Any]:
                    rows = host_rows(run)
                    return [make(_row(run, rows, row)) for row in range(count)]

                return made
            case MemberTemplate(pool=pool, place=OutputTemplate(index=index)):
                find = self.many_objects(pool)
                return lambda run, count: find(run, np.asarray(run.values[index])[:count].tolist())
            case _:
                make = self.make(template)
                return lambda run, count: [make(run)] * count

    def host_rows(self, template: Template) -> Callable[[Any], Mapping[int, Any]]:
        """The function for results of which `template` takes rows, in host memory, where they are not there already."""
        return lambda run: {}

    def selected(self, choice: ChoiceTemplate) -> Column:
        """The function for the selected option in each row."""
        selectors, columns = choice.selector.index, [self.column(option) for option in choice.options]

        def made(run: Evaluation, count: int) -> list[Any]:
            options = [column(run, count) for column in columns]
            chosen = np.asarray(run.values[selectors])[:count].tolist()
            return [options[which][row] for row, which in enumerate(chosen)]

        return made

    def member(self, member: MemberTemplate) -> Make:
        """The function for an object of a pool."""
        find, place = self.objects(member.pool), _row_number(member.place)
        return lambda run: find(run, place(run))

    def _objects_so_far(self, pool: PoolTemplate) -> Callable[[Any], dict[Any, Any]]:
        """The function for the objects of a pool that a run has made, by their rows; those of the caller's at first."""
        known = [
            (_row_number(place), self.make(given))
            for place, given in zip(pool.places, pool.objects, strict=True)
        ]

        def so_far(run: Any) -> dict[Any, Any]:
            made: dict[Any, Any] | None = run.pools.get(pool.identity)
            if made is None:
                made = run.pools[pool.identity] = {at(run): given(run) for at, given in known}
            return made

        return so_far

    def many_objects(self, pool: PoolTemplate) -> Callable[[Any, list[int]], list[Any]]:
        """The function for the objects in several rows of a pool: of numbers, all that are new at once."""
        find, so_far, column = (
            self.objects(pool),
            self._objects_so_far(pool),
            self._new_objects(pool.contents),
        )
        if column is None:
            return lambda run, places: [find(run, place) for place in places]
        new = column

        def found(run: Any, places: list[int]) -> list[Any]:
            run = _of_all_rows(run)
            made = so_far(run)
            missing = [place for place in places if place not in made]
            if missing:
                objects = new(run, max(missing) + 1)
                made.update({place: objects[place] for place in missing})
            return [made[place] for place in places]

        return found

    def _new_objects(self, template: Template) -> Column | None:
        """The function for new objects with contents that are nothing but numbers and constants; None for others."""
        match template:
            case ContainerTemplate(cls=cls, keys=keys, children=children, factory=None) if (
                children and not issubclass(cls, _MADE_WHOLE) and all(map(_is_plain, children))
            ):
                columns = [self.column(child) for child in children]
                return lambda run, count: [
                    _fill(_empty(cls), keys, parts)
                    for parts in zip(*[column(run, count) for column in columns])
                ]
            case RowsTemplate(
                element=OutputTemplate(index=index, form=Form.PYTHON), length=length, cls=cls
            ) if isinstance(length, OutputTemplate) and cls is list:
                many = length.index
                return lambda run, count: [
                    row[:n].tolist()
                    for row, n in zip(
                        np.asarray(run.values[index])[:count], np.asarray(run.values[many])[:count].tolist()
                    )
                ]
        return None

    def objects(self, pool: PoolTemplate) -> Callable[[Any, int], Any]:
        """The function for the object in a row of a pool, which is made the first time."""
        make, so_far = self.make(pool.contents), self._objects_so_far(pool)
        host_rows = self.host_rows(pool.contents)

        def find(run: Any, place: int) -> Any:
            run = _of_all_rows(run)
            made = so_far(run)
            if place not in made:
                if _ROWS not in made:
                    made[_ROWS] = host_rows(run)
                made[place] = make(_row(run, made[_ROWS], place))
            return made[place]

        return find

    def same(self, same: PathTemplate) -> Make:
        """The function for an object of the caller's."""
        return never(same)

    def records(self, records: RecordsTemplate) -> Make:
        """The function for a structured ndarray."""
        return never(records)

    def generator(self, generator: GeneratorTemplate) -> Make:
        """The function for a random generator that the program made."""
        return never(generator)

    def choice(self, choice: ChoiceTemplate) -> Make:
        """The function for the selected option."""
        index, makes = choice.selector.index, [self.make(option) for option in choice.options]
        return lambda run: makes[int(run.values[index])](run)

    def _container(self, template: ContainerTemplate) -> Make:
        cls, keys, identity = template.cls, template.keys, template.identity
        parts = self.parts(template.children)
        if not issubclass(cls, _MADE_WHOLE):
            made = _filled(cls, keys, parts, identity)
            return made if template.factory is None else _with_factory(made, self.make(template.factory))
        if issubclass(cls, tuple):
            return once(identity, lambda run: tuple.__new__(cls, parts(run)))
        return once(identity, lambda run: cls(*parts(run)))

    def parts(self, templates: Sequence[Template]) -> Make:
        """The function for the objects of several templates, in order."""
        makes = [self.make(template) for template in templates]
        return lambda run: [make(run) for make in makes]


def _row_number(place: int | OutputTemplate) -> Callable[[Any], int]:
    """The row of a run at a template."""
    if isinstance(place, int):
        return lambda run: place
    index = place.index
    return lambda run: int(run.values[index])


def _row(run: Any, rows: Mapping[int, Any], row: int) -> Any:
    """The run restricted to one row of each result; `rows` has those in host memory."""
    inner = copy.copy(run)
    inner.values, inner.made = _Row(run, rows, row), {}
    return inner


_ROWS = "rows"
"""The key of the arrays of a pool in host memory, beside the objects that were made of them."""


class _Row:
    """The results of a run in one row; `rows` has those in host memory."""

    def __init__(self, run: Evaluation, rows: Mapping[int, Any], row: int) -> None:
        self.run = run
        self._rows = rows
        self._row = row

    def __getitem__(self, index: int) -> Any:
        found = self._rows.get(index)
        return (self.run.values[index] if found is None else found)[self._row]


def _of_all_rows(run: Any) -> Any:
    """The run to which a row belongs."""
    while isinstance(run.values, _Row):
        run = run.values.run
    return run


def of_all_rows(make: Make) -> Make:
    """A function that makes one object for all rows."""
    return lambda run: make(_of_all_rows(run))


def never(template: Template) -> Make:
    """The function for a template that an evaluator cannot make: an internal error, where it is chosen."""

    def fail(run: Evaluation) -> NoReturn:
        raise AssertionError(f"{template} outside of a call")

    return fail


def once(identity: int, make: Make) -> Make:
    """A function that makes the object of a run the first time, and gives the same one later."""

    def made(run: Evaluation) -> Any:
        if identity not in run.made:
            run.made[identity] = make(run)
        return run.made[identity]

    return made


def _filled(cls: type, keys: tuple[Any, ...], parts: Make, identity: int) -> Make:
    """Makes a container that may contain itself: it exists before its contents."""

    def make(run: Evaluation) -> Any:
        if identity in run.made:
            return run.made[identity]
        made = run.made[identity] = _empty(cls)
        return _fill(made, keys, parts(run))

    return make


_MADE_WHOLE = (tuple, slice, range, types.MethodType)
"""The classes whose instances cannot be made before their contents."""


def _empty(cls: type) -> Any:
    """A new container without contents."""
    return cls() if issubclass(cls, list | dict) else object.__new__(cls)


def _fill(made: Any, keys: tuple[Any, ...], values: Sequence[Any]) -> Any:
    """The container, with these contents."""
    if type(made) is list:
        made += values
    elif isinstance(made, dict):
        dict.update(made, zip(keys, values, strict=True))
    else:
        for key, value in zip(keys, values, strict=True):
            if not isinstance(value, AbsentTemplate):
                object.__setattr__(made, key, value)
    return made


def _is_plain(template: Template) -> bool:
    """True for numbers, constants that do not change, and tuples of them."""
    match template:
        case OutputTemplate(form=form):
            return form in (Form.PYTHON, Form.SCALAR)
        case ConstantTemplate():
            return True
        case ContainerTemplate(cls=cls, children=children):
            return cls is tuple and all(map(_is_plain, children))
    return False


def _with_factory(make: Make, factory: Make) -> Make:
    """Makes a `defaultdict` with its `default_factory`."""

    def made(run: Evaluation) -> Any:
        found = make(run)
        found.default_factory = factory(run)
        return found

    return made
