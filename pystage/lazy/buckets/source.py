"""A segment as source: the recorded calls as the plain function that makes them, whose sizes are variables.

Which of its axes have the size of a bucket is all that a program for buckets needs to know of a segment. So the calls are
written as a function of arrays in buckets, for the compiler to infer as any other: what it knows of arrays whose size only
the run knows holds for recorded calls too. A number that equals a size in a bucket is written as that size, which is right
whatever it meant: the function is of the sizes, and gives for these sizes what was recorded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...compiler.hlo.types import ArrayType
from ...compiler.limits import ENDS_OF_A_SIZE
from ...compiler.values.boundary import (
    ContainerTemplate,
    Form,
    LeafSpec,
    OutputTemplate,
    Spec,
    StaticSpec,
    StructureSpec,
    Template,
    ViewTemplate,
)
from ...compiler.values.views import Flipped, Permuted, Reshaped, Strided, View, Window
from ...records import dataclass
from ...runtime.buckets import cut_text
from ..graph import Node
from ..recipes import OPEN, CallSource, PathSource, PullbackSource, Recipe
from ..segment import Segment

_LITERALS = bool, str, bytes, type(None), type(...)
_NUMBERS = {"b": "False", "i": "1", "u": "1", "f": "1.0", "c": "1j"}
"""Numbers of which only the type counts, by the kind of the type."""


class NotWritten(Exception):
    """Raised for a segment with a call that has no source."""


@dataclass(frozen=True, slots=True)
class SegmentSource:
    """A segment as the function `call(s, a0, a1, …)` of the sizes and of the inputs, which are of these `forms`.

    `constants`: functions and types with their own types, the globals `c0`, `c1`, …
    """

    text: str
    constants: tuple[tuple[type, Any], ...]
    forms: tuple[Form, ...]

    @property
    def scope(self) -> dict[str, Any]:
        """The globals of the function."""
        named = {f"c{i}": value for i, (_, value) in enumerate(self.constants)}
        return {"pystage": sys.modules[__name__.partition(".")[0]], "np": np, **named}


def written(
    segment: Segment, arrays: Sequence[Any], sizes: Sequence[int], axes: Sequence[Mapping[int, int]]
) -> SegmentSource:
    """The source of a segment. `arrays` are those of the inputs, `sizes` those in buckets; of each input `axes` says which
    of its axes have which size, by its number.
    """
    return _SegmentWriter(sizes).function(segment, arrays, axes)


class _SegmentWriter:
    """Writes functions, statement by statement."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = {size: f"n{i}" for i, size in enumerate(sizes)}
        self._constants: dict[tuple[type, Any], str] = {}
        self._lines: list[str] = []
        self._indent = "    "
        self._count = 0
        self._starts: dict[str, int] = {}
        """Where windows begin, by the names of the inputs that say so."""

    def function(
        self, segment: Segment, arrays: Sequence[Any], axes: Sequence[Mapping[int, int]]
    ) -> SegmentSource:
        inputs = {id(node): f"a{i}" for i, node in enumerate(segment.inputs)}
        array_of = dict(zip(inputs, arrays, strict=True))
        forms: dict[int, Form] = {}
        results: dict[int, Mapping[int, str]] = {}

        def text_of(node: Node) -> str:
            before = segment.call_of(node)
            if before is None:
                return inputs[id(node)]
            if node.index not in results[id(before)]:
                raise NotWritten
            return results[id(before)][node.index]

        for call in segment.calls:
            for node, form in zip(call.operands, _forms(call.recipe), strict=True):
                forms.setdefault(id(node), form)
                if id(node) in inputs and node.type.rank == 0 and node.type.dtype.kind == "i":
                    self._starts[inputs[id(node)]] = int(array_of[id(node)])
            results[id(call)] = self._call(call.recipe, list(map(text_of, call.operands)))
        outputs = ", ".join([f"np.array({text_of(node)})" for node in segment.outputs])
        head = [f"def call({', '.join(['s', *inputs.values()])}):"]
        head += [
            f"    {a} = {a}[{cut_text(each)}]" for a, each in zip(inputs.values(), axes, strict=True) if each
        ]
        lengths = {
            i: f"{a}.shape[{axis}]"  # of which the bucket is known to be the bound
            for a, each in zip(inputs.values(), axes, strict=True)
            for axis, i in each.items()
        }
        head += [f"    {name} = {lengths[i]}" for i, name in enumerate(self._sizes.values())]
        text = "\n".join([*head, *self._lines, f"    return ({outputs},)", ""])
        return SegmentSource(
            text, tuple(self._constants), tuple([forms[id(node)] for node in segment.inputs])
        )

    def _call(self, recipe: Recipe, operands: Sequence[str]) -> Mapping[int, str]:
        """Writes a call; the names of its results by their numbers."""
        source = recipe.source
        if isinstance(source, CallSource):
            return self._call_of_function(recipe, source, dict(zip(recipe.takes, operands, strict=True)))
        if isinstance(source, PathSource):
            return {0: self._path(source, operands)}
        if isinstance(source, PullbackSource):
            return self._pullback(recipe, source, operands)
        raise NotWritten

    def _call_of_function(
        self, recipe: Recipe, source: CallSource, operands: dict[int, str]
    ) -> Mapping[int, str]:
        if recipe.failure is not None:
            raise NotWritten
        found: dict[int, str] = {}
        for mutation in recipe.mutations:
            spec = source.argument_at(mutation.target)
            if not (isinstance(mutation.value, OutputTemplate) and isinstance(spec, LeafSpec)):
                raise NotWritten
            copied = self._assigned(f"np.array({self._argument(spec, source, operands)})")
            operands[spec.index] = found[mutation.value.index] = copied
        arguments = [self._argument(spec, source, operands) for spec in source.args]
        arguments += [
            f"{name}={self._argument(spec, source, operands)}" for name, spec in source.kwargs.items()
        ]
        result = self._assigned(f"{self._constant(source.function)}({', '.join(arguments)})")
        if recipe.result is None:
            return {0: result}
        _place_results(recipe.result, result, found)
        return found

    def _argument(self, spec: Spec, source: CallSource, operands: Mapping[int, str]) -> str:
        if isinstance(spec, LeafSpec):
            if spec.index in source.static:
                return self._number(source.static[spec.index])
            return operands.get(spec.index) or self._stand_in(spec.type, spec.form)
        if isinstance(spec, StaticSpec):
            return repr(spec.value) if isinstance(spec.value, _LITERALS) else self._constant(spec.value)
        if not isinstance(spec, StructureSpec):
            raise NotWritten
        children = [self._argument(child, source, operands) for child in spec.children]
        if spec.cls is slice:
            return f"slice({', '.join(children)})"
        if spec.cls is dict:
            return f"{{{', '.join(f'{k!r}: {v}' for k, v in zip(spec.keys, children, strict=True))}}}"
        if spec.cls is tuple:
            return f"({', '.join(children)}{',' * (len(children) == 1)})"
        return f"[{', '.join(children)}]"

    def _stand_in(self, type: ArrayType, form: Form) -> str:
        """An array or a number of a type, whose elements do not count."""
        if form is Form.PYTHON:
            return _NUMBERS[type.dtype.kind]
        if form is Form.SCALAR:
            return f"{self._constant(type.dtype.type)}({_NUMBERS[type.dtype.kind]})"
        return f"np.zeros({self._shape(type.shape)}, {self._constant(type.dtype)})"

    def _pullback(self, recipe: Recipe, source: PullbackSource, operands: Sequence[str]) -> Mapping[int, str]:
        """The cotangents of a call's operands, as the gradient of the sum of its results times their cotangents."""
        inner = source.recipe
        primals = list(zip(inner.function.param_types, _forms(inner), strict=True))
        given = [(inner.types[k], Form.NDARRAY if inner.types[k].rank else Form.SCALAR) for k in source.given]
        if any(type.dtype.kind == "c" for type, _ in [*primals, *given]):
            raise NotWritten  # a gradient by complex numbers has other conventions
        known = dict(zip(recipe.takes, operands, strict=True))
        values = [known.get(i) or self._stand_in(*kind) for i, kind in enumerate([*primals, *given])]
        name = self._name("f")
        names = {i: f"{name}_{i}" for i in source.places}
        self._add(f"def {name}({', '.join(names.values())}):")
        self._indent += "    "
        results = self._call(inner, [names.get(i, values[i]) for i in range(len(primals))])
        if not results.keys() >= {*source.given}:
            raise NotWritten
        products = [
            f"np.sum({results[k]} * {v})" for k, v in zip(source.given, values[len(primals) :], strict=True)
        ]
        self._add(f"return {' + '.join(products)}")
        self._indent = self._indent[:-4]
        by = tuple(range(len(names)))
        made = self._assigned(f"pystage.grad({name}, {by})({', '.join([values[i] for i in names])})")
        return {i: f"{made}[{i}]" for i in range(len(source.places))}

    def _path(self, source: PathSource, operands: Sequence[str]) -> str:
        """What stands at the end of a path, or the base after a store there."""
        if source.new is None:
            here, _ = self._at_end(source.path, operands[0], source.base, iter(operands[1:]), stores=False)
            return self._assigned(here)
        base, new, path = self._assigned(f"np.array({operands[0]})"), operands[1], source.path
        if path and isinstance(path[-1], Reshaped):  # an integer index would give a scalar
            path = path[:-1]
        here, type = self._at_end(path, base, source.base, iter(operands[2:]), stores=True)
        if type.shape != source.new.shape:
            index = _index_of_units(source.new.shape, type.shape)
            if not index:
                raise NotWritten
            new = f"{new}[{index}]"
        self._add(f"{here}[...] = {new}")
        return base

    def _at_end(
        self, path: Sequence[View], base: str, type: ArrayType, starts: Iterator[str], *, stores: bool
    ) -> tuple[str, ArrayType]:
        """The view at the end of a path from an array of a type, and its type."""
        for view in path:
            base = base + self._view(view, type, starts, stores=stores)
            type = ArrayType(type.dtype, view.shape(type))
        return base, type

    def _view(self, view: View, base: ArrayType, starts: Iterator[str], *, stores: bool) -> str:
        shape = base.shape
        if isinstance(view, Window):
            axes = zip(view.starts, view.sizes, shape, strict=True)
            return f"[{', '.join([self._slice(*axis, starts) for axis in axes])}]"
        if isinstance(view, Strided):
            parts = []
            for start, limit, step, extent in zip(view.starts, view.limits, view.strides, shape, strict=True):
                stop = "" if limit > extent - step else self._from_an_end(limit, extent)
                parts.append(f"{self._from_an_end(start, extent)}:{stop}:{step}")
            return f"[{', '.join(parts)}]"
        if isinstance(view, Flipped):
            return f"[{', '.join('::-1' if axis in view.axes else ':' for axis in range(len(shape)))}]"
        if isinstance(view, Permuted):
            return f".transpose({view.permutation})"
        if isinstance(view, Reshaped) and (index := _index_of_units(shape, view.new_shape)):
            return f"[{index}]"
        if isinstance(view, Reshaped) and not stores:
            return f".reshape({self._shape(self._with_open_axis(view.new_shape))})"
        raise NotWritten

    def _slice(self, start: Any, size: int, extent: int, starts: Iterator[str]) -> str:
        """A slice of an axis; a large one whose end is near that of the axis is written from there."""
        if start == 0 and size == extent:
            return ":"
        begin = str(start)
        if start == OPEN:
            begin = next(starts)
            start = self._starts[begin]
        stop = start + size
        if extent not in self._sizes or (2 * size <= extent and stop != extent):
            return f"{begin}:{begin} + {size}"
        return f"{begin}:{stop - extent or ''}"

    def _from_an_end(self, place: int, extent: int) -> str:
        """A place of an axis, counted from its end where it is nearer to that and the size is one in a bucket."""
        return str(place if extent not in self._sizes or 2 * place <= extent else place - extent)

    def _with_open_axis(self, shape: Sequence[int]) -> list[int]:
        """A shape with -1 in place of its first extent that is a multiple of a size in a bucket."""
        found = list(shape)
        for axis, n in enumerate(shape):
            if n not in self._sizes and any(n and n % size == 0 for size in self._sizes):
                found[axis] = -1
                break
        return found

    def _shape(self, shape: Sequence[int]) -> str:
        return f"({', '.join(map(self._extent, shape))}{',' * (len(shape) == 1)})"

    def _extent(self, extent: int) -> str:
        """An extent: also what a size in a bucket is without some elements at the ends."""
        for size, name in self._sizes.items():
            if (
                size >= 4 * ENDS_OF_A_SIZE
                and 0 < size - extent <= ENDS_OF_A_SIZE
                and extent not in self._sizes
            ):
                return f"{name} - {size - extent}"
        return self._number(extent)

    def _number(self, number: Any) -> str:
        if type(number) is int:
            return self._sizes.get(number, repr(number))
        if isinstance(number, np.generic):
            return f"{self._constant(type(number))}({self._number(number.item())})"
        if isinstance(number, complex):
            return f"complex({self._number(number.real)}, {self._number(number.imag)})"
        return repr(number) if np.isfinite(number) else f"float({str(number)!r})"

    def _constant(self, value: Any) -> str:
        """The name of a global: of a function or a type, which are equal where they are the same."""
        return self._constants.setdefault((type(value), value), f"c{len(self._constants)}")

    def _assigned(self, expression: str) -> str:
        name = self._name("v")
        self._add(f"{name} = {expression}")
        return name

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def _add(self, statement: str) -> None:
        self._lines.append(self._indent + statement)


def _forms(recipe: Recipe) -> list[Form]:
    """The forms of the operands of a recipe's function."""
    source = recipe.source
    if isinstance(source, CallSource):
        return [source.forms[leaf] for leaf in recipe.takes]
    arrays = 0 if source is None else len(recipe.takes)
    if isinstance(source, PathSource):
        arrays = 1 if source.new is None else 2
    types = recipe.function.param_types
    found = [Form.NDARRAY if type.rank else Form.SCALAR for type in types[:arrays]]
    return [*found, *[Form.PYTHON] * (len(types) - arrays)]


def _place_results(template: Template, text: str, found: dict[int, str]) -> None:
    """Notes where the results of a program stand in what a call gives."""
    if isinstance(template, ViewTemplate) and not template.steps:
        template = template.base
    if isinstance(template, OutputTemplate):
        found.setdefault(template.index, text)
    elif isinstance(template, ContainerTemplate):
        for i, child in enumerate(template.children):
            _place_results(child, f"{text}[{i}]", found)


def _index_of_units(old: Sequence[int], new: Sequence[int]) -> str:
    """The index that takes axes of one element away and adds others; empty where the shapes differ in more."""
    if [n for n in old if n != 1] != [n for n in new if n != 1]:
        return ""
    parts = []
    rest = list(new)
    for n in old:
        while rest and rest[0] == 1 and n != 1:
            parts.append("None")
            rest.pop(0)
        if rest and rest[0] == n:
            parts.append(":")
            rest.pop(0)
        else:
            parts.append("0")
    return ", ".join([*parts, *["None"] * len(rest), *([] if new else ["..."])])
