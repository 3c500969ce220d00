"""The environment of a program: reads its hidden inputs and checks its guards at every call.

A `Reader` is compiled once per specialisation to a Python function of a few comparisons, since every call runs it. It
returns the hidden values, or None if a guard fails. No user code runs: paths lead through instance attributes, modules,
containers and closure cells, and what is called asks abstract classes, which remember what hooks have answered.
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from ...compiler.library.rules.sequences import SEQUENCES
from ...compiler.values.boundary import (
    Argument,
    CallableMember,
    CellVariable,
    Form,
    Global,
    Guard,
    GuardKind,
    HiddenInput,
    Path,
    PathStep,
)
from ...compiler.values.generators import words_of
from ...compiler.values.instances import instance_fields, slots_of
from ...compiler.values.lattice import same_constant
from ...compiler.values.memory import is_structured, record_class
from ..arguments.signature import Signature
from ..random.draws import DrawPlan

Read = Callable[[Sequence[Any], dict[str, Any]], "tuple[Any, ...] | None"]

_PYTHON = {"f": float, "i": int, "c": complex, "b": bool}
_MIN, _MAX = -(2**63), 2**63 - 1
_COMPARED_BY_EQUAL = frozenset({int, str, bytes, bool})
"""Types whose equal values are interchangeable for any program."""


def layout_of(value: Any) -> tuple[Any, ...]:
    """The property that a LAYOUT guard compares: the class, and the length, the keys or the names of the fields."""
    if isinstance(value, list | tuple):
        return type(value), len(value)
    if type(value) in SEQUENCES:
        return type(value), len(value), *[getattr(value, name) for name in SEQUENCES[type(value)].constants]
    if isinstance(value, dict):
        return type(value), tuple(value), tuple(map(type, value))
    if isinstance(value, set | frozenset):
        return type(value), frozenset(value)
    if is_structured(value):
        return type(value), record_class(value.dtype, type(value))
    return type(value), tuple(instance_fields(value))


@functools.lru_cache(maxsize=1024)
def _compiled(source: str) -> types.CodeType:
    """Compiled source, cached: the specialisations of one function mostly read the same."""
    return compile(source, "<pystage>", "exec")


class PathWriter:
    """Writes Python source that follows paths, and collects the objects that it names."""

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self.objects: dict[str, Any] = {}
        self._names: dict[int, str] = {}

    def name(self, value: Any) -> str:
        """A variable of the generated function that holds `value`."""
        found = self._names.get(id(value))
        if found is None:
            found = self._names[id(value)] = f"o{len(self._names)}"
            self.objects[found] = value
        return found

    def expression(self, path: Path) -> str:
        """An expression that gives the object at `path`, or raises where there is none."""
        text = self._root(path)
        for step, key in path.steps:
            if step is PathStep.ITEM:
                text += f"[{key!r}]" if type(key) in (int, str) else f"[{self.name(key)}]"
            elif step is PathStep.FIELD:
                text += f"[{key!r}]"
            elif step is PathStep.STATE:
                text = f"words_of({text})"
            elif step is PathStep.MEMBER:
                text += f".__dict__[{key!r}]"
            elif step is PathStep.CALL:
                text += f"({', '.join(map(self.name, key))})"
            elif key.isidentifier():
                text += f".{key}"
            else:
                text = f"get_attribute({text}, {key!r})"
        return text

    def _root(self, path: Path) -> str:
        match path.root:
            case Argument(name=name):
                return self._signature.argument(name)
            case Global(namespace=namespace, name=name):
                if name in namespace or not hasattr(builtins, name):
                    return f"{self.name(namespace)}[{name!r}]"
                # A builtin, unless the module has a variable of that name by then.
                variables = self.name(namespace)
                return f"({variables}[{name!r}] if {name!r} in {variables} else builtin[{name!r}])"
            case CellVariable(cell=cell):
                return f"{self.name(cell)}.cell_contents"
            case CallableMember(value=value):
                return self.name(value)

    def function(self, source: str, name: str) -> Any:
        """The function `name` that `source` defines."""
        scope = {**_HELPERS, **self.objects}
        exec(_compiled(source), scope)
        return scope[name]


def _is_absent(parent: Any, step: PathStep, key: Any) -> bool:
    """True if `parent` has no child at this step; an attribute counts if the object itself has it."""
    if step is PathStep.ATTRIBUTE:
        if isinstance(parent, type | types.ModuleType):
            return key not in vars(parent)
        return key not in instance_fields(parent)
    if isinstance(parent, dict):
        return key not in parent
    return not -len(parent) <= key < len(parent)


def _is_unbound(namespace: dict[str, Any], name: str) -> bool:
    return name not in namespace and name not in vars(builtins)


def _same(value: Any, expected: Any) -> bool:
    if isinstance(expected, slice):
        return type(value) is slice and bool(value == expected)
    return same_constant(value, expected)


_FAILURES = (KeyError, IndexError, AttributeError, TypeError, ValueError, RuntimeError)
"""The exceptions of following a path that leads nowhere."""
_HELPERS: dict[str, Any] = {
    "get_attribute": getattr,
    "builtin": vars(builtins),
    "is_absent": _is_absent,
    "is_unbound": _is_unbound,
    "same": _same,
    "vector": np.array,
    "layout_of": layout_of,
    "words_of": words_of,
    "FAILURES": _FAILURES,
}


def _condition(w: PathWriter, guard: Guard) -> str:
    """An expression that is true if the guard fails."""
    path = guard.path
    if guard.kind is GuardKind.ABSENT:
        if not path.steps:
            assert isinstance(path.root, Global)
            return f"not is_unbound({w.name(path.root.namespace)}, {path.root.name!r})"
        parent = Path(path.root, path.steps[:-1])
        step, key = path.steps[-1]
        return f"not is_absent({w.expression(parent)}, {w.name(step)}, {w.name(key)})"
    value = w.expression(path)
    expected = guard.expected
    if guard.kind is GuardKind.IS or expected is None:
        return f"{value} is not {w.name(expected)}"
    if guard.kind is GuardKind.SAME:
        return f"{value} is not {w.expression(expected)}"
    if guard.kind is GuardKind.DISTINCT:
        ids = ", ".join([f"id({w.expression(each)})" for each in expected])
        return f"len({{{ids}}}) != {len(expected)}"
    if guard.kind is GuardKind.WRITABLE:
        return f"{value}.flags.writeable is not {bool(expected)}"
    if guard.kind is GuardKind.NAMES:
        count, order = expected
        return f"len({value}.__dict__) != {count} or {value}.__mro__ is not {w.name(order)}"
    if guard.kind is GuardKind.LAYOUT:
        return _layout_condition(w, value, expected)
    if type(expected) in _COMPARED_BY_EQUAL:
        return f"(v := {value}) != {w.name(expected)} or type(v) is not {w.name(type(expected))}"
    if isinstance(expected, set):
        return f"type(v := {value}) is not set or not same(tuple(v), {w.name(tuple(expected))})"
    return f"not same({value}, {w.name(expected)})"


def _layout_condition(w: PathWriter, value: str, expected: Any) -> str:
    """An expression that is true if an object is not laid out as `expected` is."""
    cls = type(expected)
    if issubclass(cls, list | tuple):
        return f"type(v := {value}) is not {w.name(cls)} or len(v) != {len(expected)}"
    reads = next(vars(base)["__getattribute__"] for base in cls.__mro__ if "__getattribute__" in vars(base))
    if cls in SEQUENCES or issubclass(cls, np.ndarray):
        return f"layout_of({value}) != {w.name(layout_of(expected))}"
    if not cls.__dictoffset__ and not slots_of(cls) and not issubclass(cls, dict | set | frozenset):
        return f"type({value}) is not {w.name(cls)}"
    plain = cls.__dictoffset__ and not slots_of(cls) and reads is vars(object)["__getattribute__"]
    if plain and not issubclass(cls, dict | set | frozenset):
        return (
            f"type(v := {value}) is not {w.name(cls)} or tuple(v.__dict__) != {w.name(tuple(vars(expected)))}"
        )
    return f"layout_of({value}) != {w.name(layout_of(expected))}"


def _form_condition(w: PathWriter, value: str, hidden: HiddenInput) -> str:
    """An expression that is true if an object of the environment is not of the form that the program was compiled for."""
    match hidden.form:
        case Form.NDARRAY:
            return f"type({value}) is not {w.name(np.ndarray)}"
        case Form.JAX:
            return f"is_other_jax({value}, {hidden.weak})"
        case Form.SCALAR:
            return f"type({value}) is not {w.name(hidden.type.dtype.type)}"
        case Form.PYTHON:
            kind = hidden.type.dtype.kind
            limits = f" or not {_MIN} <= {value} <= {_MAX}" if kind == "i" else ""
            return f"type({value}) is not {w.name(_PYTHON[kind])}{limits}"


def _is_other_jax(value: Any, weak: bool) -> bool:
    return not isinstance(value, jax.Array) or bool(value.aval.weak_type) != weak


_HELPERS["is_other_jax"] = _is_other_jax


def _input(w: PathWriter, group: tuple[int, ...], first: HiddenInput) -> str:
    """An expression for the input of the program for a group of hidden inputs."""
    if len(group) == 1:
        return f"h{group[0]}"
    return f"vector(({', '.join([f'h{i}' for i in group])}), {w.name(first.type.dtype)})"


class Reader:
    """Checks the guards and reads the hidden inputs of one specialisation."""

    def __init__(
        self,
        guards: Iterable[Guard],
        hidden: Sequence[HiddenInput],
        groups: Sequence[tuple[int, ...]],
        signature: Signature,
        draws: DrawPlan | None = None,
    ) -> None:
        self.guards = tuple(guards)
        self.hidden = tuple(hidden)
        self._groups = groups
        self._signature = signature
        self.draws = draws
        self.read: Read = self._compile()
        """Reads the hidden inputs of the program from the environment, one for each group of them, for the
        arguments of a canonical call, and after them what draws need: the generators, then the values of
        single hidden inputs. None if a guard fails."""

    def _compile(self) -> Read:
        w = PathWriter(self._signature)
        lines = ["def read(args, kwargs):", "    try:"]
        for guard in self.guards:
            lines.append(f"        if {_condition(w, guard)}: return None")
        for i, hidden in enumerate(self.hidden):
            lines.append(f"        h{i} = {w.expression(hidden.path)}")
            lines.append(f"        if {_form_condition(w, f'h{i}', hidden)}: return None")
        inputs = [_input(w, group, self.hidden[group[0]]) for group in self._groups]
        if self.draws is not None:
            inputs += [w.expression(path) for path in self.draws.generators]
            inputs += [f"h{i}" for i in self.draws.hidden]
        lines.append(f"        return ({''.join(n + ', ' for n in inputs)})")
        lines.append("    except FAILURES:")
        lines.append("        return None")
        read: Read = w.function("\n".join(lines), "read")
        return read

    def failing(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Guard | HiddenInput]:
        """The guards and hidden inputs that fail."""
        found: list[Guard | HiddenInput] = []
        found += [g for g in self.guards if Reader((g,), (), (), self._signature).read(args, kwargs) is None]
        found += [h for h in self.hidden if Reader((), (h,), (), self._signature).read(args, kwargs) is None]
        return found

    def value_at(self, path: Path, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The current object at a path; `...` if there is none."""
        try:
            return resolve(path, self._signature)(args, kwargs)
        except _FAILURES:
            return ...


def guard_key(guard: Guard) -> tuple[Any, ...]:
    """A key, equal for two equivalent guards."""
    expected: Any = id(guard.expected)
    if guard.kind is GuardKind.EQUAL and type(guard.expected) in _COMPARED_BY_EQUAL:
        expected = (type(guard.expected), guard.expected)
    elif guard.kind is GuardKind.LAYOUT:
        expected = layout_of(guard.expected)
    elif guard.kind is GuardKind.ABSENT:
        expected = None
    elif guard.kind is GuardKind.SAME:
        expected = guard.expected.key
    elif guard.kind is GuardKind.DISTINCT:
        expected = tuple([path.key for path in guard.expected])
    elif guard.kind is GuardKind.NAMES:
        expected = (guard.expected[0], id(guard.expected[1]))
    return (guard.kind, guard.path.key, expected)


def resolve(path: Path, signature: Signature) -> Callable[[Sequence[Any], dict[str, Any]], Any]:
    """A function that follows `path` for the arguments of a canonical call."""
    w = PathWriter(signature)
    made = w.function(f"def follow(args, kwargs):\n    return {w.expression(path)}", "follow")
    return made  # type: ignore[no-any-return]
