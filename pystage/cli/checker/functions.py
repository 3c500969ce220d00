"""Collects the functions of a module to check, and the abstract arguments of each."""

from __future__ import annotations

import inspect
import os
import re
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...compiler.diagnostics.span import Span
from ...records import dataclass
from ...runtime.arguments.annotations import annotations_of
from ...runtime.arguments.targets import definition_of, target_of
from ...runtime.function import BoundFunction, CompiledFunction
from ...staging import compile
from ...transforms import custom_vjp
from ..annotations import NotAnArgument, Sizes, array_annotation
from ..targets import (
    ArgumentUnknown,
    as_written,
    dimensions_of,
    from_annotations,
    instance_argument,
    needs_instance,
)


class NotChecked(Exception):
    """A function cannot be checked. The text says why, for the user."""


@dataclass(frozen=True, eq=False)
class Checked:
    """A function to check. `owner` is the class whose method it is, where it needs an instance of it."""

    name: str
    function: CompiledFunction[..., Any]
    decorated: bool
    owner: type | None
    span: Span

    @property
    def written(self) -> Any:
        """The plain function with the annotations."""
        return target_of(as_written(self.function)).fn

    @property
    def annotations(self) -> dict[str, Any]:
        """Its annotations; those of the result only where it is the function's own."""
        found = annotations_of(self.written)
        if self.function.transformed is not None:
            found.pop("return", None)
        return found

    def parameters_of(self, kind: type) -> list[str]:
        """The parameters without a default that are of this class by annotation."""
        parameters = inspect.signature(self.written).parameters
        return [n for n, said in self.annotations.items() if said is kind and _is_needed(parameters.get(n))]

    def arguments(self, sizes: Sizes, given: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What stands for the arguments. `NotChecked` where the annotations do not say enough."""
        try:
            instance = instance_argument(self.function, self.owner, sizes)
            return from_annotations(self.function, sizes, {**instance, **given})
        except ArgumentUnknown as error:
            raise NotChecked(error.why) from None

    @property
    def dimensions(self) -> set[str]:
        """The names of the dimensions in its annotations, and of the integers that count as such."""
        return {*dimensions_of(self.function, self.owner), *self.parameters_of(int)}


def functions_of(module: types.ModuleType, file: Path) -> list[Checked]:
    """The functions that are written in the file and compiled, or annotated with arrays, each once."""
    found: dict[Any, Checked] = {}
    for name, value, owner in _members(module):
        checked = _checked(name, value, owner)
        if checked is None or os.path.realpath(checked.span.file) != str(file):
            continue
        transform = checked.function.transformed and checked.function.target.__name__
        key = checked.written.__code__, transform
        if key not in found or (checked.decorated and not found[key].decorated):
            found[key] = checked
    return sorted(found.values(), key=lambda checked: (checked.span.line, checked.span.column))


def functions_in(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """The functions and methods that stand in a module and in its classes, plain or compiled, by qualified name."""
    for name, value, _ in _members(module):
        if _is(value, CompiledFunction, BoundFunction, types.FunctionType, types.MethodType):
            yield name, value


def _members(module: types.ModuleType) -> Iterator[tuple[str, Any, type | None]]:
    """What stands in a module and in its classes, by qualified name; the class where it is needed for an instance."""
    for name, value in list(vars(module).items()):
        if _is(value, type) and value.__module__ == module.__name__:
            yield from _methods(value)
        else:
            yield name, value, None


def _is(value: Any, *kinds: type) -> bool:
    """As `isinstance`, but without a question to the value, which may be a proxy that is not bound to anything."""
    return issubclass(type(value), kinds)


def _methods(cls: type) -> Iterator[tuple[str, Any, type | None]]:
    for name, value in list(vars(cls).items()):
        if _is(value, type):
            if value.__qualname__.startswith(f"{cls.__qualname__}."):
                yield from _methods(value)
        elif needs_instance(value):
            yield f"{cls.__qualname__}.{name}", value, cls
        elif _is(value, CompiledFunction, staticmethod, classmethod):
            yield f"{cls.__qualname__}.{name}", getattr(cls, name), None


def _checked(name: str, value: Any, owner: type | None) -> Checked | None:
    if _is(value, custom_vjp):
        value, decorated = compile(value.fun), True
    else:
        decorated = _is(value, CompiledFunction, BoundFunction)
    if not decorated and not _is(value, types.FunctionType, types.MethodType):
        return None
    written = target_of(as_written(value)).fn
    place = definition_of(written)
    if place is None or ("<locals>" in written.__qualname__ and not decorated):
        return None
    if not decorated and not _names_an_array(written):
        return None
    function = value if decorated else compile(value)
    own = function.transformed is None and "<lambda>" not in written.__qualname__
    return Checked(written.__qualname__ if own else name, function, decorated, owner, place)


def _names_an_array(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters
    return any(
        _is_array(annotation) and _is_needed(parameters.get(name))
        for name, annotation in annotations_of(function).items()
    )


_LIKE_AN_ARRAY = re.compile(r"\s*[a-z]+\d+\s*\[")
"""How the type of an array begins, also where the rest is wrong: `f32[n, 3`."""


def _is_array(annotation: Any) -> bool:
    try:
        return array_annotation(annotation) is not None
    except NotAnArgument:
        return hasattr(annotation, "dim_str") or (
            isinstance(annotation, str) and _LIKE_AN_ARRAY.match(annotation) is not None
        )


def _is_needed(parameter: inspect.Parameter | None) -> bool:
    return parameter is not None and parameter.default is parameter.empty
