"""The interface of inference for bridges (`compiler/bridges/`), beside the `Context` of all library functions.

Objects of the program and of the caller are cells. A bridge allocates them, and reads and stores their fields past the
hooks of their classes. It says while an object is under construction, keeps in an ambient cell what its library keeps in
thread-local memory, asks where an object of the caller was found, and runs library code that computes nothing on shells
of the objects (`objects/shells.py`). Bridges import nothing else of inference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from ..library.context import Context
from ..library.kernels.structures import list_items
from ..values.boundary import Path
from ..values.lattice import Abstract, AnyList, DictCell, ListCell, ObjectCell, Ref
from .core.engine import Engine as Engine
from .diagnostics import describe as texts
from .objects import attributes, objects
from .objects.shells import ObjectModel as ObjectModel
from .objects.shells import Shells

# ---------------------------------------------------------------- objects


def new_object(ctx: Context, cls: type, fields: Mapping[str, Abstract]) -> Ref:
    """A new instance of a class, whose constructor does not run."""
    return Ref(ctx.state.new_cell(ObjectCell(cls, dict(fields))))


def object_of(ctx: Context, value: Any) -> ObjectCell | None:
    """The cell of an object that is about to be read; None for any other value."""
    cell = ctx.cell(value) if isinstance(value, Ref) else None
    return cell if isinstance(cell, ObjectCell) else None


def class_of(ctx: Context, ref: Abstract) -> Any:
    """The class of an object."""
    return cast(ObjectCell, ctx.cell(cast(Ref, ref))).cls


def fields_of(ctx: Context, ref: Abstract) -> Mapping[str, Abstract]:
    """The fields of an object of the program; of one of the caller's those that have been read."""
    return cast(ObjectCell, ctx.cell(cast(Ref, ref))).fields


def all_fields_of(ctx: Context, ref: Abstract) -> Mapping[str, Abstract]:
    """The fields of an object, all of them also where it is one of the caller's."""
    return cast(ObjectCell, objects.completed(ctx, ctx.cell(cast(Ref, ref)))).fields


def get_field(ctx: Context, ref: Abstract, name: str) -> Abstract | None:
    """A field of an object; None if it has no such field."""
    return objects.field(cast(ObjectCell, ctx.cell(cast(Ref, ref))), name)


def set_field(ctx: Engine, ref: Abstract, name: str, value: Abstract) -> None:
    """Stores a field, as `object.__setattr__` does."""
    objects.set_field(ctx, cast(Ref, ref), name, value)


def initialise(
    ctx: Engine, cls: type, ref: Ref, args: Sequence[Abstract], kwargs: Mapping[str, Abstract]
) -> None:
    """`cls.__init__(ref, *args, **kwargs)`."""
    objects.initialise(ctx, cls, ref, args, kwargs)


def member_of(ctx: Engine, cls: type, name: str) -> Abstract:
    """The member of a class under `name`, under a guard; not bound."""
    return objects.class_member(ctx, cls, name, vars(cls)[name])


@contextmanager
def under_construction(ctx: Engine, ref: Ref) -> Iterator[None]:
    """A `with` block in which an object takes attributes that it takes only during construction."""
    constructing = ctx.constructing
    constructing.add(ref.cell)
    try:
        yield
    finally:
        constructing.discard(ref.cell)


def is_under_construction(ctx: Engine, ref: Abstract) -> bool:
    """True for an object that is being made (`under_construction`)."""
    return cast(Ref, ref).cell in ctx.constructing


# ---------------------------------------------------------------- dicts and items


def new_dict(ctx: Context, entries: Mapping[Any, Abstract] | None = None) -> Ref:
    """A new dict."""
    return Ref(ctx.state.new_cell(DictCell(dict(entries or {}))))


def is_dict(ctx: Context, value: Any) -> bool:
    """True for a dict, and none of a class of its own."""
    cell = ctx.cell(value) if isinstance(value, Ref) else None
    return isinstance(cell, DictCell) and cell.container is dict


def entries_of(ctx: Context, ref: Abstract) -> dict[Any, Abstract]:
    """The entries of a dict."""
    return cast(DictCell, ctx.cell(cast(Ref, ref))).entries


def set_entries(ctx: Context, ref: Abstract, entries: dict[Any, Abstract]) -> None:
    """Replaces all entries of a dict."""
    target = cast(Ref, ref)
    ctx.settle(target)
    ctx.write(target.cell, DictCell(entries))


def set_entry(ctx: Context, ref: Abstract, key: Any, value: Abstract) -> None:
    """`dict[key] = value`."""
    set_entries(ctx, ref, {**entries_of(ctx, ref), key: value})


def getitem(ctx: Engine, value: Abstract, index: Abstract) -> Abstract:
    """`value[index]`."""
    return attributes.getitem(ctx, value, index)


def describe(ctx: Context, value: Abstract) -> str:
    """A description of a value for a message."""
    return texts.describe(value, ctx.state)


# ---------------------------------------------------------------- what a library keeps beside its objects


class Ambient:
    """What a library keeps in the memory of a thread: a stack in a cell of the program, which is a part of each call's key.

    One of them belongs to a name; the cell is made with the first entry.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def top(self, ctx: Engine) -> Abstract | None:
        """The innermost entry; None if there is none."""
        cell = ctx.ambient.get(self._name)
        items = () if cell is None else list_items(ctx, cast(AnyList, ctx.state.get(cell)).items)
        return items[-1] if items else None

    @contextmanager
    def entered(self, ctx: Engine, entry: Abstract) -> Iterator[None]:
        """A `with` block with one more entry."""
        ambient = ctx.ambient
        if self._name not in ambient:
            ambient[self._name] = ctx.state.cell_number()
            ctx.state.define(ambient[self._name], ListCell(()))
        cell = ambient[self._name]
        before = ctx.state.get(cell)
        ctx.state.set(cell, ListCell((*list_items(ctx, cast(AnyList, before).items), entry)))
        try:
            yield
        finally:
            ctx.state.set(cell, before)


# ---------------------------------------------------------------- the caller's objects, and code of the library


def found_at(ctx: Engine, value: Abstract) -> tuple[Path, Any] | None:
    """The path at which an object of the caller's was found, and the object; None for an object of the program."""
    number = getattr(value, "cell", None)
    cells = ctx.externals.cells.values()
    return next(((path, held) for cell, path, held in cells if cell == number), None)


def captured(ctx: Engine, path: Path, held: Any) -> Abstract:
    """The abstract value of the caller's object at a path, which is read at each call."""
    return ctx.externals.value(path, held)


def constant_object(ctx: Engine, held: Any) -> Abstract:
    """A Python object as a constant of the program."""
    return ctx.constant_object(held)


def call_on_shells(
    ctx: Engine,
    structure: ObjectModel,
    name: str,
    function: Any,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract],
) -> Abstract:
    """The call, while compiling, of a function of a library that only moves arrays about; `name` is for messages."""
    return Shells(ctx, structure, name).call(function, args, kwargs)
