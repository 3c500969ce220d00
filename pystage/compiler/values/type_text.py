"""The type of a result as text, in NumPy's words: `float`, `(float64[3], int)`.

In: the template of a result, and the types of the program's outputs. Out: a short text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from types import MethodType

from ..hash_order import SetHistory
from ..hlo.types import ArrayType
from . import views
from .boundary import (
    AbsentTemplate,
    CallTemplate,
    ChoiceTemplate,
    ConstantTemplate,
    ContainerTemplate,
    Cut,
    Form,
    GeneratorTemplate,
    MemberTemplate,
    OutputTemplate,
    PathTemplate,
    RecordsTemplate,
    RowsTemplate,
    Subscript,
    Template,
    ViewTemplate,
)

_SHOWN = 6
"""The greatest number of parts of a tuple that are shown."""
_LONGEST = 30


def type_of_template(template: Template, types: Sequence[ArrayType]) -> str:
    """The type of the object that a template describes, as text."""
    match template:
        case OutputTemplate(index=index, form=form, scalar=scalar, key_impl=key):
            if key is not None:
                return "jax key"
            return short_array(types[index], form) if scalar is None else scalar.__name__
        case ConstantTemplate(value=value):
            return type_of_constant(value)
        case PathTemplate(path=path):
            return str(path)
        case ContainerTemplate(cls=cls, children=children):
            if cls is tuple and len(children) <= _SHOWN:
                inner = ", ".join([type_of_template(child, types) for child in children])
                return f"({inner},)" if len(children) == 1 else f"({inner})"
            counted = issubclass(cls, list | dict | tuple | set | frozenset)
            return f"{cls.__name__} of {len(children)}" if counted else cls.__qualname__
        case MemberTemplate(pool=pool):
            return type_of_template(pool.contents, types)
        case RowsTemplate(element=element, length=length, cls=cls):
            size = length if isinstance(length, int) else "n"
            return f"{cls.__name__} of {size} × {type_of_template(element, types)}"
        case ViewTemplate(base=base, steps=steps):
            cut = {step.axis for step in steps if isinstance(step, Cut)}
            found = _array(template, types)
            if found is None:
                return f"view of {type_of_template(base, types)}"
            is_jax = isinstance(base, OutputTemplate) and base.form is Form.JAX
            return short_array(found, Form.JAX if is_jax else Form.NDARRAY, cut)
        case RecordsTemplate(cls=cls):
            return f"records of {', '.join(cls.dtype.names or ())}"
        case ChoiceTemplate(options=options):
            return " or ".join(dict.fromkeys([type_of_template(option, types) for option in options]))
        case CallTemplate(function=type() as cls):
            return cls.__qualname__
        case CallTemplate(function=MethodType(__self__=SetHistory())):
            return "set"
        case CallTemplate(identity=identity):
            return "exception" if identity else "str"
        case GeneratorTemplate():
            return "Generator"
        case AbsentTemplate():
            return "not assigned"


def _array(template: Template, types: Sequence[ArrayType]) -> ArrayType | None:
    """The type of an array; None where it is one of the caller's."""
    match template:
        case OutputTemplate(index=index):
            return types[index]
        case ViewTemplate(base=base, steps=steps):
            found = _array(base, types)
            for step in steps:
                if found is None or isinstance(step, Subscript):
                    return None
                if isinstance(step, views.View):
                    found = ArrayType(step.dtype(found.dtype), step.shape(found))
                elif not isinstance(step, Cut):
                    found = ArrayType(found.dtype, step.sizes)
            return found
    return None


def type_of_constant(value: object) -> str:
    """The text of an object known while compiling: small ones as literals, others by their class."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        text = repr(value)
        if len(text) <= _LONGEST:
            return text
        return (
            f"{type(value).__name__} of length {len(value) if isinstance(value, str | bytes) else len(text)}"
        )
    return getattr(value, "__qualname__", None) or type(value).__name__


def short_array(type: ArrayType, form: Form, bounded: Collection[int] = ()) -> str:
    """An array or a number: `float64[3, 4]`, `int`, `np.float32`, `jax float32[3]`; `float64[≤3]` along a bounded axis.

    The numbers of a list in rows are `40 × int`.
    """
    match form:
        case Form.PYTHON:
            kind = {"b": "bool", "i": "int", "f": "float", "c": "complex"}[type.dtype.kind]
            return " × ".join([*map(str, type.shape), kind])
        case Form.SCALAR:
            return f"np.{type.dtype}"
    extents = [f"≤{n}" if axis in bounded else str(n) for axis, n in enumerate(type.shape)]
    shown = f"{type.dtype}[{', '.join(extents)}]"
    return shown if form is Form.NDARRAY else f"jax {shown}"
