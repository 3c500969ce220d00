"""Evaluation of templates on the host while the program runs, for `print`.

In: the template of a string (`library/python/strings.py`), and the arrays of the outputs that it refers to. Out: the object.
An array of its elements replaces a `jax.Array`, since a callback may not wait for a device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .boundary import (
    CallTemplate,
    ChoiceTemplate,
    ConstantTemplate,
    ContainerTemplate,
    Form,
    OutputTemplate,
    Template,
    ViewTemplate,
)


def evaluate_template(template: Template, values: Sequence[np.ndarray]) -> Any:
    """The object that `template` describes."""
    match template:
        case ConstantTemplate(value=value):
            return value
        case OutputTemplate():
            return _number(template, values[template.index])
        case ViewTemplate(base=base, steps=()):
            return evaluate_template(base, values)
        case CallTemplate(function=function, args=args, kwargs=kwargs):
            return function(
                *[evaluate_template(a, values) for a in args],
                **{n: evaluate_template(a, values) for n, a in kwargs},
            )
        case ChoiceTemplate(selector=selector, options=options):
            return evaluate_template(options[int(values[selector.index])], values)
        case ContainerTemplate(cls=cls, keys=keys, children=children):
            parts = [evaluate_template(c, values) for c in children]
            if issubclass(cls, dict):
                return dict(zip(keys, parts, strict=True))
            return tuple.__new__(cls, parts) if issubclass(cls, tuple) else parts
        case _:
            raise AssertionError(f"{template} is no part of a string")


def _number(output: OutputTemplate, value: np.ndarray) -> Any:
    match output.form:
        case Form.PYTHON:
            assert output.scalar is not None
            return output.scalar(value.item())
        case Form.SCALAR:
            return value[()]
        case Form.NDARRAY:
            return np.array(value)
        case Form.JAX:
            made = np.array(value).view(_PrintedArray)
            made.weak = output.weak
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
