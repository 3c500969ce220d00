"""Parses annotations of arguments: `x: "f32[n, 784]"`, jaxtyping's `Float32[Array, "batch 784"]`, `float`.

In: an annotation, and the sizes of the named dimensions. Out: an abstract argument for `lower`.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import inspect
import operator
import re
import sys
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import numpy as np

from ..compiler.hlo.types import SHORT_NAMES
from ..records import dataclass
from ..runtime.arguments.abstract import ArraySpec, spec
from ..runtime.arguments.annotations import evaluated

_ARRAY = re.compile(r"\s*(\w+)\s*\[(.*)\]\s*", re.DOTALL)
_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
_SHORT: dict[str, str] = {
    **{short: short for short in SHORT_NAMES.values()},
    **{str(dtype): short for dtype, short in SHORT_NAMES.items()},
    "bool": "pred",
    **{f"i{bits}": f"s{bits}" for bits in (8, 16, 32, 64)},
}
"""Names of element types: HLO's, NumPy's, and `i32` for `s32`."""
ELEMENT_TYPES = tuple(_SHORT)
NUMBERS = {float: "f64[]", int: "s64[]", complex: "c128[]"}
"""The classes of Python numbers of which a program takes any value, each with the type."""
_WITHOUT_FIELDS = (*NUMBERS, np.ndarray, jax.Array)
_PREFERRED = ("float32", "int32", "complex64", "bool", "uint32")
"""Of the element types that an annotation of a `jax.Array` allows, which is taken: JAX's own default."""


class NotAnArgument(Exception):
    """An annotation does not say what the argument is. The text says why, for the user."""


class UnknownSize(NotAnArgument):
    """A dimension is named whose size is not given."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the size of the dimension `{name}` is not given")
        self.name = name


class Sizes(dict[str, int]):
    """The sizes of named dimensions. A name that is not given gets the next of `fresh`."""

    def __init__(self, given: Mapping[str, int], fresh: Iterator[int]) -> None:
        super().__init__(given)
        self._fresh = fresh

    def __missing__(self, name: str) -> int:
        size = self[name] = next(self._fresh)
        return size

    def nameless(self) -> int:
        """A size of its own for a dimension without a name."""
        return self[f"_{sum(name.startswith('_') for name in self) + 1}"]


def argument_of(annotation: Any, sizes: Mapping[str, int]) -> Any:
    """What stands for an argument with this annotation. `NotAnArgument` where it does not say enough.

    Tuples, named tuples and classes with annotated fields are made of what stands for these.
    """
    said = array_annotation(annotation)
    if said is not None:
        return said.spec(sizes)
    if isinstance(annotation, str | typing.ForwardRef):
        raise NotAnArgument(f"{annotation!r} is not a type such as 'f32[n, 784]'")
    if isinstance(annotation, type) and annotation in NUMBERS:
        return spec(NUMBERS[annotation], "python")
    if annotation is bool:
        raise NotAnArgument("a program is made for each value of a `bool`")
    if typing.get_origin(annotation) is typing.Annotated:
        return argument_of(typing.get_args(annotation)[0], sizes)
    if typing.get_origin(annotation) is tuple and Ellipsis not in typing.get_args(annotation):
        return tuple([argument_of(part, sizes) for part in typing.get_args(annotation)])
    if annotation is np.ndarray or annotation is jax.Array:
        raise NotAnArgument(f"`{annotation_text(annotation)}` says no shape and no element type")
    if isinstance(annotation, type):
        return instance_of(annotation, sizes)
    raise NotAnArgument(f"`{annotation_text(annotation)}` is no annotation that says shape and element type")


@dataclass(frozen=True)
class ArrayAnnotation:
    """What an annotation says of an array: the element types that it may have, the one that stands for them first, and
    its dimensions, among which `...` is any number of them.

    `text` is how the user wrote it.
    """

    dtypes: tuple[str, ...]
    dims: tuple[str, ...]
    form: str
    text: str

    def spec(self, sizes: Mapping[str, int]) -> ArraySpec:
        """What stands for such an array; for any number of dimensions, two."""
        dims = [each for dim in self.dims for each in (("_", "_") if dim == "..." else (dim,))]
        shape = ",".join([str(size_of(dim, sizes, self.text)) for dim in dims])
        return spec(f"{self.dtypes[0]}[{shape}]", self.form)

    @property
    def names(self) -> set[str]:
        """The names of its dimensions."""
        found: set[str] = set()
        for dim in self.dims:
            with contextlib.suppress(SyntaxError):
                found |= {node.id for node in ast.walk(ast.parse(dim)) if isinstance(node, ast.Name)}
        return found - {"_"}


def array_annotation(annotation: Any) -> ArrayAnnotation | None:
    """An annotation of an array, taken apart; None if it is none. `NotAnArgument` where it is one that says too little."""
    if isinstance(annotation, typing.ForwardRef):  # a text inside `tuple[…]`, or of a named tuple
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        return array_of_text(annotation) if "[" in annotation else None
    if hasattr(annotation, "dim_str") and hasattr(annotation, "dtypes"):
        return _of_jaxtyping(annotation)
    if typing.get_origin(annotation) is typing.Annotated:
        for said in annotation.__metadata__:
            if isinstance(said, str) and _ARRAY.fullmatch(said):
                return array_of_text(said)
        return array_annotation(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        for part in typing.get_args(annotation):
            if hasattr(part, "dim_str"):
                return _of_jaxtyping(part)
    return None


def dimensions_in(annotation: Any) -> set[str]:
    """The names of the dimensions in an annotation, and in those of the fields of the classes in it."""
    found: set[str] = set()
    classes: set[type] = set()
    open = [annotation]
    while open:
        each = open.pop()
        try:
            said = array_annotation(each)
        except NotAnArgument:
            continue
        if said is not None:
            found |= said.names
        elif isinstance(each, type) and each not in classes and each not in _WITHOUT_FIELDS:
            classes.add(each)
            open += _annotations(each).values()
        open += typing.get_args(each)
    return found


def array_of(text: str, sizes: Mapping[str, int]) -> ArraySpec:
    """What stands for an array of a type such as `f32[n, 784]`."""
    return array_of_text(text).spec(sizes)


def array_of_text(text: str, form: str = "ndarray") -> ArrayAnnotation:
    """A type such as `f32[n, 784]`, taken apart."""
    found = _ARRAY.fullmatch(text)
    if found is None or found[1] not in _SHORT:
        raise NotAnArgument(f"{text!r} is not a type such as 'f32[n, 784]'")
    parts = [part.strip() for part in found[2].split(",")] if found[2].strip() else []
    if parts and not parts[-1]:
        parts.pop()
    return ArrayAnnotation((_SHORT[found[1]],), tuple(parts), form, text)


def named_type(text: str) -> str | None:
    """The word before the brackets of what looks like a type such as `f32[n, 784]`; None of what does not."""
    found = _ARRAY.fullmatch(text)
    return None if found is None else found[1]


def size_of(dim: str, sizes: Mapping[str, int], text: str) -> int:
    """The size of a dimension: a number, a name, `_` for any, or a sum or product of these such as `2*n+1`."""
    if dim == "_" and isinstance(sizes, Sizes):
        return sizes.nameless()
    try:
        size = _evaluate(ast.parse(dim, mode="eval").body, sizes)
    except (SyntaxError, ZeroDivisionError):
        size = None
    if size is None:
        raise NotAnArgument(f"{dim!r} in {text!r} is neither a number nor the name of a dimension")
    if size < 0:
        raise NotAnArgument(f"{dim!r} in {text!r} is negative")
    return size


def _evaluate(node: ast.expr, sizes: Mapping[str, int]) -> int | None:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            try:
                return sizes[name]
            except KeyError:
                raise UnknownSize(name) from None
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            a, b = _evaluate(left, sizes), _evaluate(right, sizes)
            return None if a is None or b is None else _ARITHMETIC[type(op)](a, b)
    return None


def _of_jaxtyping(annotation: Any) -> ArrayAnnotation:
    """After jaxtyping's documentation: names of dimensions between blanks, `name=4`, `#name`, `_` for any, `...` and
    `*name` for any number of them."""
    kind = annotation.array_type
    allowed = list(annotation.dtypes) if isinstance(annotation.dtypes, list | tuple) else []
    wanted = ("float64", "int64", "complex128", *_PREFERRED) if kind is np.ndarray else _PREFERRED
    dtypes = [name for name in (*wanted, *allowed) if name in allowed and name in _SHORT]
    if not dtypes:
        raise NotAnArgument(f"`{annotation_text(annotation)}` says no element type")
    dims: list[str] = []
    for part in str(annotation.dim_str).split():
        dim = (part.partition("=")[2] or part).lstrip("#?")
        if dim.startswith("*"):  # any number of dimensions with one name: two
            dims += [f"{dim.strip('*#?')}_1", f"{dim.strip('*#?')}_2"]
        else:
            dims.append("_" if dim.startswith("_") else dim)
    short = tuple(dict.fromkeys(_SHORT[name] for name in dtypes))
    return ArrayAnnotation(
        short, tuple(dims), "ndarray" if kind is np.ndarray else "jax", annotation_text(annotation)
    )


def instance_of(cls: Any, sizes: Mapping[str, int]) -> Any:
    """An object of a class with annotated fields, made of what stands for these; none of the class's code runs.

    A field that is not annotated as an array or a number has its default. `NotAnArgument` where that does not say enough.
    """
    annotations = _annotations(cls)
    twice = next((held for held, count in _count_classes(cls, Counter()).items() if count > 1), None)
    if twice is not None:
        raise NotAnArgument(
            f"`{annotation_text(cls)}` holds several `{annotation_text(twice)}`, whose dimensions may differ"
        )
    if hasattr(cls, "_fields"):
        return tuple.__new__(cls, [argument_of(annotations[name], sizes) for name in cls._fields])
    defaults = _fields(cls, annotations)
    made = object.__new__(cls)
    for name, default in defaults.items():
        try:
            value = argument_of(annotations[name], sizes)
        except UnknownSize:
            raise
        except NotAnArgument as error:
            if default is dataclasses.MISSING:
                raise NotAnArgument(f"the field `{name}` of `{annotation_text(cls)}`: {error}") from None
            value = default
        object.__setattr__(made, name, value)
    return made


def _annotations(cls: type) -> dict[str, Any]:
    """The annotations of a class and of its bases."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        module = sys.modules.get(base.__module__)
        found |= evaluated(inspect.get_annotations(base), vars(module) if module else {})
    return found


def _count_classes(annotation: Any, found: Counter[type]) -> Counter[type]:
    """How often an object of each class with annotated fields stands in what an annotation describes."""
    for part in typing.get_args(annotation):
        _count_classes(part, found)
    if (
        isinstance(annotation, type)
        and annotation not in _WITHOUT_FIELDS
        and not hasattr(annotation, "dim_str")
    ):
        fields = _annotations(annotation)
        found[annotation] += bool(fields)
        for said in fields.values() if found[annotation] == 1 else ():
            _count_classes(said, found)
    return found


def _fields(cls: Any, annotations: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a class with their defaults."""
    if dataclasses.is_dataclass(cls):
        if hasattr(cls, "__post_init__"):
            raise NotAnArgument(f"`{annotation_text(cls)}` computes fields in `__post_init__`")
        return {field.name: field.default for field in dataclasses.fields(cls)}
    names = [name for name, said in annotations.items() if typing.get_origin(said) is not typing.ClassVar]
    if not names:
        raise NotAnArgument(
            f"`{annotation_text(cls)}` says no shape and no element type, and has no annotated fields"
        )
    return {name: vars(cls).get(name, dataclasses.MISSING) for name in names}


def annotation_text(annotation: Any) -> str:
    """An annotation as the user wrote it, classes by their own names."""
    name = None if typing.get_origin(annotation) is not None else getattr(annotation, "__qualname__", None)
    text: str = name or repr(annotation)
    return re.sub(r"\b(?:\w+\.)+(?=[A-Za-z_])", "", text)
