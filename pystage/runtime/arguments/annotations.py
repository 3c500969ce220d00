"""Annotations of a function's parameters: as the expressions that they are, and which of them ask for buckets."""

from __future__ import annotations

import contextlib
import typing
from collections.abc import Callable, Mapping
from typing import Any

from ...records import dataclass


@dataclass(frozen=True, slots=True)
class Bucket:
    """In the annotation of a parameter of a compiled function: which sizes of its axes share a program.

        >>> @pystage.compile
        ... def total(x: Annotated[np.ndarray, pystage.Bucket({0: "pow2"})]):
        ...     return x.sum()

    It says the same as `pystage.compile(bucket={"x": {0: "pow2"}})`, which overrides it.
    """

    axes: Mapping[int, Any]


def evaluated(annotations: Mapping[str, Any], namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Annotations, evaluated where that gives something: `"f32[n]"` is no expression of the module's."""
    found: dict[str, Any] = {}
    for name, annotation in annotations.items():
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        for _ in range(2):  # a text, and of `from __future__ import annotations` the text of a text
            if isinstance(annotation, str):
                with contextlib.suppress(Exception):
                    annotation = eval(annotation, dict(namespace))
        found[name] = annotation
    return found


def annotations_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a plain function, evaluated where they are expressions of its module's."""
    return evaluated(getattr(function, "__annotations__", {}), getattr(function, "__globals__", {}))


def buckets_of(function: Callable[..., Any]) -> dict[str, Mapping[int, Any]]:
    """The buckets that the annotations of a plain function ask for, by parameter."""
    return {
        name: said.axes
        for name, annotation in annotations_of(function).items()
        if name != "return" and typing.get_origin(annotation) is typing.Annotated
        for said in annotation.__metadata__
        if isinstance(said, Bucket)
    }
