"""Abstract arguments: `spec` and `jax.ShapeDtypeStruct` give the type of an argument without a value."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import jax

from ...compiler.hlo.types import SHORT_NAMES, DType
from ...compiler.values.boundary import Form
from ...records import dataclass
from .classification import AbstractArgument
from .inputs import is_key

_TYPE = re.compile(r"\s*(\w+)\s*\[\s*((?:\d+\s*(?:,\s*\d+\s*)*,?)?)\s*\]\s*")
_DTYPES: dict[str, DType] = {name: dtype for dtype, name in SHORT_NAMES.items()}
_FORMS = {"ndarray": Form.NDARRAY, "jax": Form.JAX, "numpy scalar": Form.SCALAR, "python": Form.PYTHON}
_FLAGS = SimpleNamespace(writeable=True)
_PYTHON_DTYPES = ("s64", "f64", "c128")


@dataclass(frozen=True, slots=True)
class ArraySpec(AbstractArgument):
    """An abstract array or number of this type; constructed by `pystage.spec`."""

    shape: tuple[int, ...]
    dtype: DType
    form: Form

    @property
    def flags(self) -> SimpleNamespace:
        """The flags of a new ndarray, as far as programs depend on them."""
        return _FLAGS

    def __repr__(self) -> str:
        form = next(name for name, form in _FORMS.items() if form is self.form)
        return f"pystage.spec('{SHORT_NAMES[self.dtype]}[{','.join(map(str, self.shape))}]', {form!r})"


def spec(text: str, form: str = "ndarray") -> ArraySpec:
    """A stand-in for an argument of `lower` whose type alone is known, as `spec("f32[100,224,224,3]")`.

        >>> str(pystage.compile(lambda x: x.sum()).lower(pystage.spec("f64[3]")).staged)
        '<lambda>(float64[3]) -> np.float64'

    `text` is HLO's notation: an element type (pred, s8 to s64, u8 to u64, f16, bf16, f32, f64, c64, c128)
    and a shape. `form`: `"ndarray"`, `"jax"`, `"numpy scalar"` or `"python"`; the last two have the shape
    `[]`, and Python numbers are s64, f64 or c128. ValueError for anything else.
    """
    found = _TYPE.fullmatch(text)
    if found is None or found[1] not in _DTYPES:
        raise ValueError(f"{text!r} is not a type such as 'f32[100,3]' or 'f64[]'")
    if form not in _FORMS:
        raise ValueError(f"form must be one of {', '.join(map(repr, _FORMS))}, not {form!r}")
    shape = tuple([int(n) for n in found[2].split(",") if n.strip()])
    if form in ("numpy scalar", "python") and shape:
        raise ValueError(f"a {form} has no axes: write '{found[1]}[]'")
    if form == "python" and found[1] not in _PYTHON_DTYPES:
        raise ValueError(f"a Python number is one of {', '.join(_PYTHON_DTYPES)}, not {found[1]}")
    return ArraySpec(shape, _DTYPES[found[1]], _FORMS[form])


def abstract_form(value: Any) -> tuple[Any, Form]:
    """A value with the shape and dtype of `value`, and its form.

    A `jax.ShapeDtypeStruct` has 64 bits only where `jax_enable_x64` is on, as everywhere in JAX.
    """
    if isinstance(value, ArraySpec):
        return value, value.form
    dtype = value.dtype
    if is_key(dtype) or dtype.itemsize < 8:
        return value, Form.JAX
    dtype = jax.dtypes.canonicalize_dtype(dtype)
    if dtype == value.dtype:
        return value, Form.JAX
    return jax.ShapeDtypeStruct(value.shape, dtype, weak_type=value.weak_type), Form.JAX


def stand_in(value: Any) -> Any:
    """The argument of `jax.jit(…).lower` for an input."""
    if isinstance(value, ArraySpec):
        weak = value.form is Form.PYTHON
        return jax.ShapeDtypeStruct(value.shape, value.dtype, weak_type=weak)
    return abstract_form(value)[0] if isinstance(value, jax.ShapeDtypeStruct) else value
