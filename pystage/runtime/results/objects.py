"""Evaluation of templates in the runtime (`evaluation.py`): the objects that the caller gets.

In: the results of a run, the arguments of its call, and what the host drew. Out: arrays, numbers and views of the
caller's memory as the plain run gives them.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ...compiler.diagnostics.codes_mutation import CannotReturn
from ...compiler.diagnostics.errors import StagingError
from ...compiler.hlo.types import ArrayType
from ...compiler.values import views
from ...compiler.values.boundary import (
    Box,
    ChoiceTemplate,
    Cut,
    Form,
    GeneratorTemplate,
    OutputTemplate,
    PathTemplate,
    PoolTemplate,
    RecordsTemplate,
    RowsTemplate,
    Subscript,
    Template,
    ViewStep,
    ViewTemplate,
)
from ...compiler.values.evaluation import Column, Elements, Evaluation, Evaluator, Make, of_all_rows
from ...compiler.values.views import (
    Diagonal,
    FieldOf,
    Flipped,
    Permuted,
    RealOrImaginary,
    Repeated,
    Reshaped,
    SlidingWindows,
    Strided,
    Window,
)
from ...compiler.values.walk import nodes
from ...records import dataclass
from ..arguments.signature import Signature
from ..guards.environment import resolve
from ..random.draws import Performance
from .host_memory import ADOPT_BYTES, adopted


@dataclass(slots=True)
class Execution(Evaluation):
    """A run for a call, with its arguments in canonical form, and its draws."""

    args: Sequence[Any]
    kwargs: dict[str, Any]
    performance: Performance | None = None

    def generator(self, number: int) -> Any:
        """A generator that the program made."""
        assert self.performance is not None
        return self.performance.objects[number]


class Objects(Evaluator):
    """Makes the objects of one program.

    `uses` counts the templates that refer to each result, `bases` the objects that share the memory of each new array.
    `numbers` are results that are Python numbers already.
    """

    def __init__(
        self,
        signature: Signature,
        types: Sequence[ArrayType],
        uses: Mapping[int, int],
        bases: Mapping[int, int],
        traced: bool,
        numbers: Collection[int] = frozenset(),
    ) -> None:
        self._signature = signature
        self._types = types
        self._uses = uses
        self._bases = bases
        self._traced = traced
        self._numbers = numbers

    def of_arrays(self) -> Objects:
        """The same for results that all are arrays."""
        return Objects(self._signature, self._types, self._uses, self._bases, self._traced)

    def output(self, output: OutputTemplate) -> Make:
        index = output.index
        if self._traced or output.form is Form.JAX or index in self._numbers:
            return lambda run: run.values[index]
        convert = self.conversion(output)
        return lambda run: convert(run.values[index])

    def parts(self, templates: Sequence[Template]) -> Make:
        numbers = [t.index for t in templates if isinstance(t, OutputTemplate) and t.index in self._numbers]
        if len(numbers) < max(len(templates), 2):
            return super().parts(templates)
        first, last = numbers[0], numbers[-1]
        if numbers == [*range(first, last + 1)]:
            return lambda run: run.values[first : last + 1]
        items = operator.itemgetter(*numbers)
        return lambda run: items(run.values)

    def conversion(self, output: OutputTemplate) -> Callable[[Any], Any]:
        """The function from a result in host memory to its object."""
        if output.form is Form.NDARRAY:
            type = self._types[output.index]
            large = type.nbytes >= ADOPT_BYTES
            make = adopted if large and self._uses[output.index] == 1 else np.array
            return make if output.writable else lambda value: _read_only(make(value))
        if output.form is Form.SCALAR:
            return lambda value: np.asarray(value)[()]
        scalar = output.scalar
        assert scalar is not None
        return lambda value: scalar(np.asarray(value).item())

    def elements(self, output: OutputTemplate) -> Elements:
        if self._traced or output.form is Form.JAX:
            return lambda rows, count: list(rows[:count])
        if output.form is Form.PYTHON:
            return lambda rows, count: np.asarray(rows)[:count].tolist()
        if output.form is Form.SCALAR and len(self._types[output.index].shape) == 1:
            return lambda rows, count: list(np.asarray(rows)[:count])
        convert = self.conversion(output)
        return lambda rows, count: [convert(row) for row in np.asarray(rows)[:count]]

    def host_rows(self, template: Template) -> Callable[[Any], Mapping[int, Any]]:
        """All that nothing takes as a `jax.Array`."""
        if self._traced:
            return super().host_rows(template)
        outputs = [node for node in nodes(template) if isinstance(node, OutputTemplate)]
        arrays = {each.index for each in outputs if each.form is Form.JAX}
        numbers = {each.index for each in outputs} - arrays
        return lambda run: {n: np.asarray(run.values[n]) for n in numbers}

    def objects(self, pool: PoolTemplate) -> Callable[[Any, int], Any]:
        if self._traced:
            what = "an object that a list of computed length refers to, where JAX traces the call,"
            raise StagingError((CannotReturn(what=what),))
        return super().objects(pool)

    def rows(self, rows: RowsTemplate) -> Make:
        if self._traced and not isinstance(rows.length, int):
            what = f"a {rows.cls.__name__} whose length the program computes, where JAX traces the call,"
            raise StagingError((CannotReturn(what=what),))
        return super().rows(rows)

    def selected(self, choice: ChoiceTemplate) -> Column:
        if self._traced and choice.number is not None:
            return self.column(choice.number)
        return super().selected(choice)

    def same(self, same: PathTemplate) -> Make:
        follow = resolve(same.path, self._signature)
        return lambda run: follow(run.args, run.kwargs)

    def records(self, records: RecordsTemplate) -> Make:
        if self._traced:
            what = "a structured ndarray, where JAX traces the call,"
            raise StagingError((CannotReturn(what=what),))
        leaves, parts = records.cls.leaves, [self.make(part) for part in records.parts]

        def make(run: Execution) -> Any:
            arrays = [part(run) for part in parts]
            first, inner = arrays[0], len(leaves[0].shape)
            made = np.zeros(first.shape[: first.ndim - inner], records.cls.dtype)
            for leaf, array in zip(leaves, arrays):
                leaf.of(made)[...] = array
            made.flags.writeable = first.flags.writeable
            return made.view(records.cls.array)

        return make

    def generator(self, generator: GeneratorTemplate) -> Make:
        index = generator.number.index
        return lambda run: run.generator(int(run.values[index]))

    def choice(self, choice: ChoiceTemplate) -> Make:
        chosen = super().choice(choice)
        if not self._traced:
            return chosen
        number = None if choice.number is None else self.output(choice.number)

        def traced(run: Execution) -> Any:
            try:
                return chosen(run)
            except jax.errors.ConcretizationTypeError:
                if number is not None:
                    return number(run)
                what = "a result that is one of several objects, where JAX traces the call,"
                raise StagingError((CannotReturn(what=what),)) from None

        return traced

    def view(self, view: ViewTemplate) -> Make:
        base = of_all_rows(self.make(view.base)) if view.of_all else self.make(view.base)
        steps = [view_step(step) for step in view.steps]
        cuts = any(isinstance(step, Cut) for step in view.steps)
        array = new_array(view)
        alone = cuts and array is not None and self._bases[array.identity] == 1

        def make(run: Execution) -> Any:
            array = base(run)
            for step in steps:
                array = step(array, run)
            return _own_memory(array) if alone and isinstance(array, np.ndarray) else array

        return make


def new_array(view: ViewTemplate) -> ViewTemplate | RecordsTemplate | None:
    """The new array that a view is of, as inference names it; None for memory of the caller's."""
    while view.steps:
        if isinstance(view.base, RecordsTemplate):
            return view.base
        if not isinstance(view.base, ViewTemplate):
            return None
        view = view.base
    return view if isinstance(view.base, OutputTemplate) else None


def view_step(step: ViewStep) -> Callable[[Any, Evaluation], Any]:
    """One step from an ndarray to a view."""
    if isinstance(step, Box):
        return functools.partial(_box, step)
    if isinstance(step, Cut):
        return functools.partial(_cut, step)
    if isinstance(step, Subscript):
        key = step.key if isinstance(step.key, str) or not step.key else list(step.key)
        return lambda array, run: array[key]
    make = view_maker(step)
    return lambda array, run: make(array)


def view_maker(view: views.View) -> Callable[[Any], Any]:
    """The function from an ndarray, or a `jax.Array`, to its view."""
    match view:
        case Window(starts, sizes):
            box = tuple([slice(int(s), int(s) + n) for s, n in zip(starts, sizes)])  # type: ignore[arg-type]
            return lambda array: array[(*box, ...)]
        case Strided(starts, limits, strides):
            part = tuple([slice(a, e, s) for a, e, s in zip(starts, limits, strides)])
            return lambda array: array[(*part, ...)]
        case Flipped(axes):
            turned = tuple([slice(None, None, -1 if i in axes else 1) for i in range(max(axes) + 1)])
            return lambda array: array[(*turned, ...)]
        case Permuted(permutation):
            return lambda array: array.transpose(permutation)
        case Reshaped(packed=True):
            return lambda array: array.ravel()
        case Reshaped(new_shape):
            return lambda array: array.reshape(new_shape)
        case RealOrImaginary(imaginary):
            return lambda array: array.imag if imaginary else array.real
        case FieldOf():
            return lambda array: array
        case Diagonal(offset, frozen=True):
            return lambda array: array.diagonal(offset, -2, -1)
        case Diagonal(offset):
            return lambda array: _writable_diagonal(array, offset)
        case Repeated(new_shape):
            return lambda array: np.broadcast_to(array, new_shape)
        case SlidingWindows(sizes, axes):
            return lambda array: np.lib.stride_tricks.sliding_window_view(array, sizes, axes)
    raise AssertionError(f"an unknown view {view!r}")


def _box(box: Box, array: Any, run: Evaluation) -> Any:
    """The box, clamped into the array as the program does it."""
    at = [run.values[s.index] if isinstance(s, OutputTemplate) else s for s in box.starts]
    if isinstance(array, jax.Array):
        return jax.lax.dynamic_slice(array, at, box.sizes)
    first = [max(0, min(int(s), n - size)) for s, n, size in zip(at, array.shape, box.sizes)]
    return array[tuple([slice(s, s + size) for s, size in zip(first, box.sizes)])]


def _cut(cut: Cut, array: Any, run: Evaluation) -> Any:
    """The elements of a bounded axis."""
    try:
        start, step, size = [
            n if isinstance(n, int) else int(run.values[n.index]) for n in (cut.start, cut.step, cut.size)
        ]
    except jax.errors.ConcretizationTypeError:
        what = "an array whose size only the run knows, where JAX traces the call,"
        raise StagingError((CannotReturn(what=what),)) from None
    stop = start + size * step
    part = slice(start, None if stop < 0 else stop, step) if size else slice(0, 0)
    index = (*[slice(None)] * cut.axis, part)
    if isinstance(array, jax.Array) and _is_in_host_memory(
        array
    ):  # JAX would compile a slice for each new size
        return jax.device_put(np.asarray(array)[index], array.sharding)
    return array[index]


def _is_in_host_memory(array: jax.Array) -> bool:
    """True for an array that NumPy can read, and whose copy JAX makes from an ndarray."""
    if isinstance(array, jax.core.Tracer) or array.weak_type or not isinstance(array.dtype, np.dtype):
        return False
    one = isinstance(array.sharding, jax.sharding.SingleDeviceSharding)
    on_cpu = one and next(iter(array.sharding.device_set)).platform == "cpu"
    return on_cpu and jax.dtypes.canonicalize_dtype(array.dtype) == array.dtype


def _own_memory(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy that can be stored into if the array can."""
    copy = array.copy(order="K")
    copy.flags.writeable = array.flags.writeable
    return copy


def _read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.flags.writeable = False
    return array


def _writable_diagonal(array: Any, offset: int) -> Any:
    """The diagonal of square matrices as `np.einsum` gives it; as of `jax.Array` where JAX maps over it."""
    return array.diagonal(offset, -2, -1) if isinstance(array, jax.Array) else np.einsum("...ii->...i", array)
