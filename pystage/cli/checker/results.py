"""Compares a function's result with its return annotation, for one assignment of sizes."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...compiler.hlo.types import SHORT_NAMES, ArrayType
from ...compiler.values.boundary import (
    Argument,
    Box,
    ChoiceTemplate,
    ConstantTemplate,
    ContainerTemplate,
    Cut,
    OutputTemplate,
    PathStep,
    PathTemplate,
    Program,
    Subscript,
    Template,
    ViewTemplate,
)
from ...runtime.arguments.abstract import ArraySpec
from ..annotations import ArrayAnnotation, NotAnArgument, annotation_text, array_annotation, size_of

_KINDS = {bool: "b", int: "biu", float: "biufV", complex: "biufcV"}
"""The kinds of element types that a number of such a class may have; V: bfloat16."""


class Mismatch(NamedTuple):
    """Which part of the result is not as annotated, what it is, and what the annotation says."""

    what: str
    found: str
    said: str


class Results:
    """The result of a program. `arguments` are what stands for the parameters, by name; `sizes` those of the dimensions.

    A dimension that no parameter names has the size that it has where it first occurs.
    """

    def __init__(self, program: Program, arguments: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        self._program = program
        self._arguments = arguments
        self._sizes = dict(sizes)

    def mismatch(self, annotation: Any) -> Mismatch | None:
        """Where the result is certainly not as annotated; None if nowhere."""
        return next(self._mismatches(self._program.result, annotation, "the result"), None)

    def _mismatches(self, template: Template, annotation: Any, what: str) -> Iterator[Mismatch]:
        if isinstance(template, ChoiceTemplate):
            for option in template.options:
                yield from self._mismatches(option, annotation, what)
            return
        found = self._found(template)
        if found is None:
            return
        try:
            said = array_annotation(annotation)
        except NotAnArgument:
            return
        if said is not None:
            if not isinstance(found, ArrayType) or not self._fits(found, said):
                yield Mismatch(what, str(found), said.text)
        elif annotation is None:
            if found != "None":
                yield Mismatch(what, str(found), "None")
        elif isinstance(annotation, type) and annotation in _KINDS:
            if not isinstance(found, ArrayType) or found.rank or found.dtype.kind not in _KINDS[annotation]:
                yield Mismatch(what, str(found), annotation.__name__)
        elif typing.get_origin(annotation) is tuple:
            yield from self._parts(template, found, annotation, what)

    def _parts(
        self, template: Template, found: ArrayType | str, annotation: Any, what: str
    ) -> Iterator[Mismatch]:
        parts = typing.get_args(annotation)
        if Ellipsis in parts:
            return
        if not isinstance(template, ContainerTemplate) or not issubclass(template.cls, tuple):
            yield Mismatch(what, str(found), annotation_text(annotation))
        elif len(template.children) != len(parts):
            said = f"a tuple of {len(parts)}"
            yield Mismatch(what, str(found), said)
        else:
            for i, (child, part) in enumerate(zip(template.children, parts, strict=True)):
                yield from self._mismatches(child, part, f"{what}[{i}]")

    def _fits(self, found: ArrayType, said: ArrayAnnotation) -> bool:
        if SHORT_NAMES[found.dtype] not in said.dtypes:
            return False
        dims, shape = said.dims, found.shape
        if "..." in dims:
            before, after = dims.index("..."), len(dims) - dims.index("...") - 1
            if before + after > len(shape):
                return False
            dims = (*dims[:before], *dims[before + 1 :])
            shape = (*shape[:before], *shape[len(shape) - after :])
        if len(dims) != len(shape):
            return False
        return all(self._is(dim, n, said.text) for dim, n in zip(dims, shape, strict=True))

    def _is(self, dim: str, extent: int, text: str) -> bool:
        if dim == "_":
            return True
        if dim.isidentifier():
            return self._sizes.setdefault(dim, extent) == extent
        try:
            return size_of(dim, self._sizes, text) == extent
        except NotAnArgument:
            return True

    def _found(self, template: Template) -> ArrayType | str | None:
        """The type of an array or a number, or words for something else; None where it is not known."""
        match template:
            case OutputTemplate(index=index):
                return self._program.function.result_types[index]
            case PathTemplate(path=path):
                return self._handed_back(path)
            case ViewTemplate(base=base, steps=steps):
                found = self._found(base)
                for step in steps:
                    if not isinstance(found, ArrayType):
                        return None
                    if isinstance(step, Cut | Subscript):
                        return None
                    if isinstance(step, Box):
                        found = ArrayType(found.dtype, step.sizes)
                    else:
                        found = ArrayType(step.dtype(found.dtype), step.shape(found))
                return found
            case ConstantTemplate(value=None) if (
                self._program.failure is None
            ):  # what has certainly raised gives None, too
                return "None"
            case ContainerTemplate(cls=cls, children=children):
                return f"a {cls.__name__}" + (f" of {len(children)}" if cls is tuple else "")
        return None

    def _handed_back(self, path: Any) -> ArrayType | None:
        """The type of an argument, or of a part of one."""
        if not isinstance(path.root, Argument) or path.root.name not in self._arguments:
            return None
        value = self._arguments[path.root.name]
        for step, key in path.steps:
            value = value[key] if step in (PathStep.ITEM, PathStep.FIELD) else getattr(value, key)
        return ArrayType(value.dtype, value.shape) if isinstance(value, ArraySpec) else None
