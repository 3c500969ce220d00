"""What an annotation says of an argument: `x: "f32[n, 784]"`, jaxtyping's `Float32[Array, "batch 784"]`, `float`.

In: an annotation, and the sizes of the named dimensions. Out: what stands for the argument in `lower`.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ..compiler.hlo.types import SHORT_NAMES
from ..runtime.abstract import ArraySpec, spec

_ARRAY = re.compile(r"\s*(\w+)\s*\[(.*)\]\s*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_SHORT: dict[str, str] = {
    **{short: short for short in SHORT_NAMES.values()},
    **{str(dtype): short for dtype, short in SHORT_NAMES.items()},
    "bool": "pred",
    **{f"i{bits}": f"s{bits}" for bits in (8, 16, 32, 64)},
}
"""Names of element types: HLO's, NumPy's, and `i32` for `s32`."""
_NUMBERS = {float: "f64[]", int: "s64[]", complex: "c128[]"}
_PREFERRED = ("float32", "int32", "complex64", "bool", "uint32")
"""Of the element types that an annotation of a `jax.Array` allows, which is taken: JAX's own default."""


class NotAnArgument(Exception):
    """An annotation does not say what the argument is. The text says why, for the user."""


class UnknownSize(NotAnArgument):
    """A dimension is named whose size is not given."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the size of the dimension `{name}` is not given")
        self.name = name


def argument_of(annotation: Any, sizes: Mapping[str, int]) -> Any:
    """What stands for an argument with this annotation. `NotAnArgument` where it does not say enough.

    Tuples, named tuples and dataclasses of annotated fields are made of what stands for these.
    """
    if isinstance(annotation, str):
        return array_of(annotation, sizes)
    if annotation in _NUMBERS:
        return spec(_NUMBERS[annotation], "python")
    if hasattr(annotation, "dim_str") and hasattr(annotation, "dtypes"):
        return _of_jaxtyping(annotation, sizes)
    if typing.get_origin(annotation) is typing.Annotated:
        for said in annotation.__metadata__:
            if isinstance(said, str):
                return array_of(said, sizes)
        return argument_of(typing.get_args(annotation)[0], sizes)
    if typing.get_origin(annotation) is tuple and Ellipsis not in typing.get_args(annotation):
        return tuple([argument_of(part, sizes) for part in typing.get_args(annotation)])
    if isinstance(annotation, type) and (
        dataclasses.is_dataclass(annotation) or hasattr(annotation, "_fields")
    ):
        return _of_fields(annotation, sizes)
    if annotation in (np.ndarray, jax.Array):
        raise NotAnArgument(f"`{annotation.__name__}` says no shape and no element type")
    raise NotAnArgument(f"`{_shown(annotation)}` is no annotation that says shape and element type")


def array_of(text: str, sizes: Mapping[str, int], form: str = "ndarray") -> ArraySpec:
    """What stands for an array of a type such as `f32[n, 784]`."""
    found = _ARRAY.fullmatch(text)
    if found is None or found[1] not in _SHORT:
        raise NotAnArgument(f"{text!r} is not a type such as 'f32[n, 784]'")
    parts = [part.strip() for part in found[2].split(",")] if found[2].strip() else []
    if parts and not parts[-1]:
        parts.pop()
    shape = ",".join([str(_size(part, sizes, text)) for part in parts])
    return spec(f"{_SHORT[found[1]]}[{shape}]", form)


def _size(part: str, sizes: Mapping[str, int], text: str) -> int:
    if part.isdecimal():
        return int(part)
    if not _NAME.fullmatch(part):
        raise NotAnArgument(f"{part!r} in {text!r} is neither a number nor the name of a dimension")
    if part not in sizes:
        raise UnknownSize(part)
    return sizes[part]


def _of_jaxtyping(annotation: Any, sizes: Mapping[str, int]) -> Any:
    """After jaxtyping's documentation: names of dimensions between blanks, `name=4`, `_` and `...` for any."""
    kind = annotation.array_type
    allowed = list(annotation.dtypes) if not isinstance(annotation.dtypes, str) else []
    wanted = ("float64", "int64", "complex128", *_PREFERRED) if kind is np.ndarray else _PREFERRED
    dtype = next((name for name in (*wanted, *allowed) if name in allowed and name in _SHORT), None)
    if dtype is None:
        raise NotAnArgument(f"`{_shown(annotation)}` says no element type")
    dims = [part.partition("=")[2] or part for part in str(annotation.dim_str).split()]
    form = "ndarray" if kind is np.ndarray else "jax"
    return array_of(f"{dtype}[{','.join(dims)}]", sizes, form)


def _of_fields(cls: Any, sizes: Mapping[str, int]) -> Any:
    annotations = typing.get_type_hints(cls, include_extras=True)
    names = (
        [f.name for f in dataclasses.fields(cls) if f.init] if dataclasses.is_dataclass(cls) else cls._fields
    )
    return cls(**{name: argument_of(annotations[name], sizes) for name in names})


def _shown(annotation: Any) -> str:
    return getattr(annotation, "__qualname__", None) or repr(annotation)
