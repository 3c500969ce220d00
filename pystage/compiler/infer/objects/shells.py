"""Shells: stand-ins for objects of the program, on which library code that only moves parts runs while compiling.

In: objects of the program and constants, as abstract values. A shell is an object of the same class, with the same
attributes, and an empty array stands for each of the program's. One object of the program is one shell, so that identity
tells what the function returns: objects of the program come back as themselves, new ones are new cells, and stores into
shells are done to the program's objects. No code of the program runs: functions of the program are refused, and so are
classes that define how attributes are set.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, cast

import jax
import numpy as np

from ....records import dataclass
from ...diagnostics.codes_calls import NotServed
from ...library.kernels.structures import container_of, list_items
from ...policy import is_library, package_of
from ...values.instances import instance_fields
from ...values.lattice import LISTS, Abstract, Array, Const, DictCell, ObjectCell, Ref, Tuple
from ..core.engine import Engine
from ..core.externals import is_opaque
from . import objects

_HOOKS = ("__setattr__", "__getattribute__", "__getattr__", "__delattr__", "__hash__", "__eq__", "__new__")


@dataclass(frozen=True, slots=True)
class ObjectModel:
    """The construction rules for the objects of a library.

    `package`: that of their classes, `title` its name in messages. `nodes` gives the classes whose instances hold arrays;
    `static` says, given the fields of an object, which of them are a part of the structure and hold none.
    """

    package: str
    title: str
    nodes: Callable[[], tuple[type, ...]]
    static: Callable[[Callable[[Abstract], Any], Mapping[str, Abstract]], Container[str]]


class Shells:
    """The shells of one call: `name` is what is called, for messages."""

    def __init__(self, engine: Engine, structure: ObjectModel, name: str) -> None:
        self._engine = engine
        self._structure = structure
        self._name = name
        self._made: dict[int, Any] = {}
        """By cell."""
        self._leaves: dict[int, tuple[Any, Abstract]] = {}
        """By id of what stands for an array: itself, the array."""
        self._refs: dict[int, tuple[Ref, Any, Any]] = {}
        """By id of the shell: the object, the shell, what it held."""

    def call(
        self, function: Callable[..., Any], args: Sequence[Abstract], kwargs: Mapping[str, Abstract]
    ) -> Abstract:
        """The result of the call, after which the program's objects hold what their shells hold."""
        given = [self.shell(a) for a in args]
        named = {key: self.shell(a) for key, a in kwargs.items()}
        try:
            with jax.ensure_compile_time_eval():
                found = function(*given, **named)
        except ValueError as error:
            self._engine.raise_(error)
        except Exception as error:  # whatever the library's own code raises for what it does not expect
            self._refuse(f"it cannot while compiling ({type(error).__name__}: {error})")
        result = self.lifted(found)
        self._write_back()
        return result

    def shell(self, value: Abstract) -> Any:
        """The Python object for `value`, with empty arrays for those of the program."""
        if isinstance(value, Const):
            if callable(value.value) and not isinstance(value.value, type) and not is_opaque(value.value):
                self._refuse(f"it would run `{getattr(value.value, '__name__', 'a function')}`")
            return value.value
        if isinstance(value, Tuple):
            items = [self.shell(x) for x in value.items]
            return tuple(items) if value.cls is tuple else tuple.__new__(value.cls, items)
        if isinstance(value, Array):
            return self._leaf(value)
        if not isinstance(value, Ref):
            return self._refuse("it would run a function of the program")
        if self._engine.is_ndarray(value):
            return self._leaf(value)
        if value.cell not in self._made:
            self._fill(value)
        return self._made[value.cell]

    def _leaf(self, value: Abstract) -> Any:
        made = np.empty(0)
        self._leaves[id(made)] = made, value
        return made

    def _fill(self, ref: Ref) -> None:
        cell = self._engine.cell(ref)
        made: Any
        if isinstance(cell, LISTS):
            made = self._made[ref.cell] = []
            made += [self.shell(x) for x in list_items(self._engine, cell.items)]
        elif isinstance(cell, DictCell):
            made = self._made[ref.cell] = {}
            made.update({key: self.shell(x) for key, x in cell.entries.items()})
        elif isinstance(cell, ObjectCell):
            self._require_plain(cell.cls)
            fields = cast(ObjectCell, objects.completed(self._engine, cell)).fields
            made = self._made[ref.cell] = object.__new__(cell.cls)
            static = self._structure.static(self.shell, fields)
            for name, own in fields.items():
                known = name in static
                object.__setattr__(made, name, self._known(own, name) if known else self.shell(own))
        else:
            self._refuse("it is given what is no module")
        self._refs[id(made)] = ref, made, _contents(made)

    def _known(self, value: Abstract, name: str) -> Any:
        """An attribute that is no data, and so a part of the structure."""
        what = f"`{name}`, which is no array to {self._structure.title},"
        if isinstance(value, Array):
            return self._engine.known(value, what)
        made = self.shell(value)
        held = [self._leaves.get(id(leaf)) for leaf in jax.tree.leaves(made)]
        if any(held):
            self._refuse(f"{what} holds arrays")
        return made

    def _require_plain(self, cls: type) -> None:
        package = self._structure.package
        own = [base for base in cls.__mro__ if not is_library(base)]
        if not any(package_of(base).name == package for base in cls.__mro__) and not dataclasses.is_dataclass(
            cls
        ):
            self._refuse(f"it would look into an object of `{cls.__qualname__}`, which is no module")
        hooks = [f"{base.__name__}.{name}" for base in own for name in _HOOKS if name in vars(base)]
        if hooks and not dataclasses.is_dataclass(cls):
            self._refuse(f"it would run `{hooks[0]}`")

    def lifted(self, thing: Any) -> Abstract:
        """The abstract value of what the function has made of shells."""
        if id(thing) in self._leaves:
            return self._leaves[id(thing)][1]
        if id(thing) in self._refs:
            return self._refs[id(thing)][0]
        if isinstance(thing, tuple):
            return cast(Tuple, container_of(thing, self.lifted))
        if isinstance(thing, jax.Array | np.ndarray):
            self._refuse("it computes with arrays")
        if not isinstance(thing, (list, dict, *self._structure.nodes())):
            return Const(thing)
        ref = Ref(self._engine.state.cell_number())
        self._refs[id(thing)] = ref, thing, None
        self._engine.state.set(ref.cell, self._content(thing))
        return ref

    def _content(self, thing: Any) -> Any:
        if isinstance(thing, list | dict):
            return container_of(list(thing) if isinstance(thing, list) else dict(thing), self.lifted)
        return ObjectCell(type(thing), {name: self.lifted(x) for name, x in _contents(thing).items()})

    def _write_back(self) -> None:
        """Stores what the function has stored into shells."""
        for ref, made, before in list(self._refs.values()):
            if before is None:
                continue
            after = _contents(made)
            if isinstance(made, list | dict):
                if not _is_same(before, after):
                    self._engine.settle(ref)
                    self._engine.write(ref.cell, self._content(made))
                continue
            for name, value in after.items():
                if name not in before or before[name] is not value:
                    objects.set_field(self._engine, ref, name, self.lifted(value))
            for name in before.keys() - after.keys():
                objects.delete_field(self._engine, ref, name)

    def _refuse(self, why: str) -> Any:
        instead = "go through the module's own attributes, or call it outside of the staged function"
        self._engine.fail(NotServed(span=self._engine.b.span, name=self._name, why=why, instead=instead))


def _contents(made: Any) -> dict[Any, Any]:
    """What a list, a dict or an object holds."""
    if isinstance(made, list):
        return dict(enumerate(made))
    if isinstance(made, dict):
        return dict(made)
    return instance_fields(made)


def _is_same(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> bool:
    return list(before) == list(after) and all(after[key] is x for key, x in before.items())
