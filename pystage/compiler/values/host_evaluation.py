"""Evaluation of templates on the host while the program runs, for `print`.

In: the template of a string (`library/python/strings.py`), and the arrays of the outputs that it refers to. Out: the object.
An array of its elements replaces a `jax.Array`, since a callback may not wait for a device.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .boundary import Form, OutputTemplate, Template, ViewTemplate
from .evaluation import Elements, Evaluation, Evaluator, Make, never


def evaluate_template(template: Template, values: Sequence[np.ndarray]) -> Any:
    """The object that `template` describes."""
    return _PRINTED.make(template)(Evaluation(values, {}))


class _Printed(Evaluator):
    """Makes the printed form of an object, or the contents of an exception."""

    def output(self, output: OutputTemplate) -> Make:
        index, convert = output.index, _conversion(output)
        return lambda run: convert(run.values[index])

    def elements(self, output: OutputTemplate) -> Elements:
        convert = _conversion(output)
        return lambda rows, count: [convert(np.asarray(row)) for row in rows[:count]]

    def view(self, view: ViewTemplate) -> Make:
        return never(view) if view.steps else self.make(view.base)


_PRINTED = _Printed()


def _conversion(output: OutputTemplate) -> Callable[[np.ndarray], Any]:
    match output.form:
        case Form.PYTHON:
            scalar = output.scalar
            assert scalar is not None
            return lambda value: scalar(value.item())
        case Form.SCALAR:
            return lambda value: value[()]
        case Form.NDARRAY:
            return np.array
        case Form.JAX:
            return functools.partial(_jax_array, output.weak)


def _jax_array(weak: bool, value: np.ndarray) -> Any:
    made = np.array(value).view(_PrintedArray)
    made.weak = weak
    return made


class _PrintedArray(np.ndarray):
    """The elements of a `jax.Array`, with the same `str`, `repr` and `format`."""

    weak: bool = False

    def _elements(self) -> Any:
        return self.view(np.ndarray)

    def __str__(self) -> str:
        return str(self._elements())

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak else ""
        kind = f"dtype={self.dtype.name}{weak})"
        width = np.get_printoptions()["linewidth"]
        if self.size == 0:
            text = f"[], shape={self.shape}"
        else:
            text = np.array2string(
                self._elements(), prefix="Array(", suffix=",", separator=", ", max_line_width=width
            )
        last = len(text) - text.rfind("\n") + 1
        fits = last + len(kind) + 1 <= width
        return f"Array({text},{' ' if fits else ' ' * len('Array(')}{kind}"

    def __format__(self, spec: str) -> str:
        elements = self._elements()
        return format(elements[()] if self.ndim == 0 else elements, spec)
