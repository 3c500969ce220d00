"""Attributes, items, operators and lengths of any value: user classes first, then the library."""

from __future__ import annotations

import enum
import sys
import types
from collections import Counter
from typing import Any, cast

import jax
import numpy as np

from ...diagnostics.codes_calls import NoSuchAttribute, NotServed
from ...diagnostics.codes_mutation import CannotStore
from ...diagnostics.diagnostic import DiagnosticError
from ...library.containers.element_equality import same_or_equal
from ...library.kernels.python_implementations import run_program
from ...library.numpy.array_attributes import array_attribute, set_array_attribute
from ...library.numpy.indexing.grids import grid_of
from ...library.numpy.subscripts import structured
from ...library.numpy.subscripts.flat import flat_getitem, flat_of, flat_setitem
from ...library.numpy.subscripts.subscripts import array_getitem, array_setitem, refuse_item
from ...library.operands.rows_as_arrays import array_of_rows, index_arrays
from ...library.prelude import builtins
from ...library.python import generators, operators, strings
from ...library.python.containers import (
    attribute_of_container,
    container_delitem,
    container_getitem,
    container_setitem,
)
from ...library.python.iterators import is_iterator, taken
from ...library.python.streams import STREAMS, stream_attribute
from ...library.registry import method_of
from ...library.rules.tables import is_counter
from ...policy import USER, package_of_module
from ...values.boundary import CallableMember, Form, Global, GuardKind, Path
from ...values.bounded import Bounded, Selection
from ...values.gated import Gated
from ...values.generators import GENERATORS
from ...values.lattice import (
    FALSE,
    NONE,
    TRUE,
    Abstract,
    Array,
    ArrayCell,
    Caught,
    ClassOf,
    Const,
    DictCell,
    Exc,
    IteratorCell,
    ListCell,
    Meaning,
    MemberCell,
    Method,
    ObjectCell,
    Records,
    Ref,
    RowsCell,
    Stream,
    Super,
    TableCell,
    Text,
    Tuple,
    Unknown,
)
from ..core.engine import Engine
from ..core.externals import is_opaque
from ..diagnostics.describe import describe
from ..diagnostics.foreign import unknown_item
from ..state import classes
from . import class_stores, namedtuples, objects
from . import exception_attributes as exceptions

_BINARY = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
    "divmod()": "divmod",
}
_COMPARE = {
    "==": ("eq", "eq"),
    "!=": ("ne", "ne"),
    "<": ("lt", "gt"),
    "<=": ("le", "ge"),
    ">": ("gt", "lt"),
    ">=": ("ge", "le"),
}
_OF_GENERATORS = ("send", "throw", "close")
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}


def is_array(engine: Engine, value: Abstract) -> bool:
    """True for arrays and NumPy or Python numbers."""
    if isinstance(value, Ref):
        return isinstance(engine.state.get(value.cell), ArrayCell)
    return isinstance(value, Array | Selection)


def getattr_(engine: Engine, value: Abstract, name: str) -> Abstract:
    """`value.name`."""
    found: Abstract | None = None
    if type(value) is Ref:  # an object, mostly
        content = engine.state.slots.get(value.cell)
        if name in _OF_GENERATORS and isinstance(content, IteratorCell | Unknown):
            raise DiagnosticError(_not_of_generators(engine, name))
        cell = engine.cell(value)
        if isinstance(cell, ObjectCell):
            if cell.cls in GENERATORS:
                return _generator_attribute(engine, value, cell.cls, name)
            return objects.instance_getattr(engine, value, cell, name)
        if is_counter(cell) and isinstance(classes.lookup_class(Counter, name), types.FunctionType):
            return objects.bind_member(engine, Counter, name, classes.lookup_class(Counter, name), value)
    match value:
        case Unknown(reason):
            raise DiagnosticError(reason)
        case Text() | Gated():
            return getattr_(engine, Const(engine.known(value, "a string")), name)
        case Const(v) if isinstance(v, type):
            return objects.class_getattr(engine, v, name)
        case Const(v):
            return _constant_attribute(engine, value, v, name)
        case Exc() | Caught():
            return exceptions.exception_attribute(engine, value, name)
        case ClassOf():
            return exceptions.class_attribute(engine, value, name)
        case Stream():
            return stream_attribute(engine, value, name)
        case Super():
            return objects.super_getattr(engine, value, name)
        case Records():
            found = structured.attribute(engine, value, name)
        case Tuple() if value.cls is not tuple:
            found = namedtuples.getattr_(engine, value, name)
    if found is None and is_array(engine, value):
        found = array_attribute(engine, value, name)
    elif found is None:
        found = attribute_of_container(engine, value, name)
    if found is None and name == "__class__":
        found = class_of(engine, value)
    if found is None and isinstance(value, Method) and name in ("__self__", "__func__"):
        found = value.receiver if name == "__self__" else value.function
    if found is None:
        raise objects.no_attribute(engine, value, name)
    return found


def _not_of_generators(engine: Engine, name: str) -> NotServed:
    why = "a generator is staged where its elements are taken in their order, and nothing is put into it"
    instead = "write a class: what the generator keeps in variables as attributes, and a method that takes the value"
    return NotServed(span=engine.b.span, name=f"`{name}` of a generator", why=why, instead=instead)


def _constant_attribute(engine: Engine, value: Const, v: Any, name: str) -> Abstract:
    if isinstance(v, types.ModuleType):
        if (id(v), name) not in engine.externals.library_attributes and not hasattr(v, name):
            engine.externals.guard(
                GuardKind.ABSENT, Path(CallableMember(v, v.__name__)).attribute(name), None
            )
            engine.raise_(AttributeError(f"module {v.__name__!r} has no attribute {name!r}"))
        return module_attribute(engine, v, name)
    found = attribute_of_container(engine, value, name)
    if (found is None and isinstance(v, bool | int | float | complex)) or hasattr(v, "dtype"):
        found = array_attribute(engine, value, name) or found
    if found is not None:
        return found
    if is_opaque(v) or isinstance(v, types.FunctionType | types.BuiltinFunctionType):
        if hasattr(v, name):
            return _attribute_of_constant(engine, v, name)
    elif hasattr(v, name) and not isinstance(getattr(type(v), name, None), types.FunctionType | property):
        return _attribute_of_constant(engine, v, name)
    elif hasattr(type(v), name):
        raw = classes.lookup_class(type(v), name)
        if isinstance(raw, property):
            return engine.call(objects.class_member(engine, type(v), name, raw.fget), [value])
        if classes.found(raw):
            return objects.bind_member(engine, type(v), name, raw, value)
    raise objects.no_attribute(engine, value, name)


def _attribute_of_constant(engine: Engine, holder: Any, name: str) -> Abstract:
    """An attribute of a constant object; what may change later is a value of the environment."""
    value = getattr(holder, name)
    own = isinstance(holder, types.FunctionType) and name in vars(holder)
    if own or isinstance(value, np.ndarray | jax.Array | list | dict):
        title = getattr(holder, "__qualname__", None) or type(holder).__qualname__
        return engine.externals.value(Path(CallableMember(holder, title)).attribute(name), value)
    return engine.constant_object(value)


def _generator_attribute(engine: Engine, value: Ref, cls: type, name: str) -> Abstract:
    """An attribute of a generator of random numbers: a method, bound."""
    method = method_of(cls, name)
    if method is not None:
        return Method(Meaning(f"{cls.__name__}.{name}", method), value)
    if not hasattr(cls, name):
        module = cls.__module__
        engine.raise_(AttributeError(f"'{module}.{cls.__name__}' object has no attribute {name!r}"))
    if name == "__class__":
        return Const(cls)
    why = "it is about the state of a generator, which lives on the host"
    instead = "use it outside of the staged function"
    title = f"{cls.__name__}.{name}"
    raise DiagnosticError(NotServed(span=engine.b.span, name=title, why=why, instead=instead))


def class_of(engine: Engine, value: Abstract) -> Const:
    """`type(value)`."""
    return cast(Const, engine.call(Const(type), [value]))


def setattr_(engine: Engine, value: Abstract, name: str, new: Abstract) -> None:
    """`value.name = new`."""
    if isinstance(value, Ref):
        cell = engine.cell(value)
        if isinstance(cell, ObjectCell):
            objects.instance_setattr(engine, value, cell, name, new)
            return
    if isinstance(value, Const) and isinstance(value.value, type):
        class_stores.store(engine, value.value, name, new)
        return
    if isinstance(value, Tuple) and value.cls is not tuple:
        engine.raise_(AttributeError("can't set attribute"))
    if isinstance(value, Records) and structured.set_attribute(engine, value, name, new):
        return
    if set_array_attribute(engine, value, name, new):
        return
    if isinstance(value, Const) and value.value is None:
        raise objects.no_attribute(engine, value, name)
    raise DiagnosticError(
        CannotStore(span=engine.b.span, what=f"the attribute {name!r} of {describe(value, engine.state)}")
    )


def delattr_(engine: Engine, value: Abstract, name: str) -> None:
    """`del value.name`."""
    if isinstance(value, Ref):
        cell = engine.cell(value)
        if isinstance(cell, ObjectCell):
            objects.instance_delattr(engine, value, cell, name)
            return
    if isinstance(value, Const) and value.value is None:
        raise objects.no_attribute(engine, value, name)
    raise DiagnosticError(
        CannotStore(span=engine.b.span, what=f"the attribute {name!r} of {describe(value, engine.state)}")
    )


def module_attribute(engine: Engine, module: Any, name: str) -> Abstract:
    """An attribute of a module: a constant for a library's, the module variable for a user's."""
    key = id(module), name
    found = engine.externals.library_attributes.get(key)
    if found is not None:
        return found
    if module is sys and name in STREAMS:
        return STREAMS[name]
    value = getattr(module, name)
    library = package_of_module(module.__name__) is not USER
    if name in module.__dict__:
        if not library or isinstance(value, np.ndarray | jax.Array | list | dict):
            return engine.externals.global_variable(module.__dict__, name) or NONE
        engine.externals.guard(GuardKind.IS, Path(Global(module.__dict__, name)), value)
    elif not library:  # found by the module's own `__getattr__`, which is user code
        raise DiagnosticError(
            NoSuchAttribute(
                span=engine.b.span, what=f"the dictionary of the module {module.__name__}", attribute=name
            )
        )
    made = engine.constant_object(value)
    if isinstance(made, Const):
        engine.externals.library_attributes[key] = made
    return made


# ---------------------------------------------------------------- items


def getitem(engine: Engine, obj: Abstract, index: Abstract) -> Abstract:
    """`obj[index]`."""
    obj = strings.known(engine, obj)
    method = objects.special_method(engine, obj, "__getitem__")
    if method is not None:
        return engine.call(method, [index])
    if isinstance(obj, Records):
        return structured.getitem(engine, obj, index_arrays(engine, index))
    if is_array(engine, obj) or (isinstance(obj, Const) and hasattr(obj.value, "dtype")):
        return array_getitem(engine, obj, index_arrays(engine, index) if _takes_lists(obj) else index)
    if isinstance(obj, Const) and (
        isinstance(obj.value, type | types.GenericAlias) or type(obj.value).__module__ == "typing"
    ):
        return Const(obj.value[engine.known(index, "a type argument")])
    flat = flat_of(engine, obj)
    if flat is not None:
        return flat_getitem(engine, flat, index)
    found = container_getitem(engine, obj, index)
    if found is None:
        found = grid_of(engine, obj, index)
    if found is None:
        if isinstance(obj, Const) and hasattr(type(obj.value), "__getitem__"):
            raise DiagnosticError(unknown_item(obj.value, engine.b.span, engine.frame))
        engine.raise_(TypeError(f"{type_name(engine, obj)!r} object is not subscriptable"))
    return found


def _takes_lists(array: Abstract) -> bool:
    """True for an ndarray, of which lists are indices; a `jax.Array` refuses them."""
    return isinstance(array, Ref) or (isinstance(array, Bounded) and array.form is Form.NDARRAY)


def type_name(engine: Engine, value: Abstract) -> str:
    """The name of the value's class, for Python's own messages."""
    found = class_of(engine, value).value
    return found.__name__ if isinstance(found, type) else describe(value, engine.state)


def setitem(engine: Engine, obj: Abstract, index: Abstract, value: Abstract) -> None:
    """`obj[index] = value`."""
    method = objects.special_method(engine, obj, "__setitem__")
    if method is not None:
        engine.call(method, [index, value])
    elif isinstance(obj, Records):
        structured.setitem(engine, obj, index_arrays(engine, index), value)
    elif is_array(engine, obj):
        if isinstance(obj, Ref):
            engine.settle(obj)
        if _takes_lists(obj):
            index, value = index_arrays(engine, index), array_of_rows(engine, value)
        array_setitem(engine, obj, index, value)
    elif (flat := flat_of(engine, obj)) is not None:
        flat_setitem(engine, flat, index, value)
    elif not container_setitem(engine, obj, index, value):
        if isinstance(obj, Const) and hasattr(type(obj.value), "__setitem__"):
            raise DiagnosticError(unknown_item(obj.value, engine.b.span, engine.frame))
        engine.raise_(TypeError(f"{type_name(engine, obj)!r} object does not support item assignment"))


def delitem(engine: Engine, obj: Abstract, index: Abstract) -> None:
    """`del obj[index]`."""
    method = objects.special_method(engine, obj, "__delitem__")
    if method is not None:
        engine.call(method, [index])
        return
    if isinstance(obj, Records):
        structured.refuse(engine, "`del`")
    if is_array(engine, obj):
        if isinstance(obj, Array) and obj.form is Form.JAX:
            engine.raise_(AttributeError("__delitem__"))
        if isinstance(obj, Array):
            refuse_item(engine, obj, "does not support item deletion")
        engine.raise_(ValueError("cannot delete array elements"))
    if not container_delitem(engine, obj, index):
        says = "doesn't" if _is_item_of_a_sequence(engine, obj, index) else "does not"
        engine.raise_(TypeError(f"{type_name(engine, obj)!r} object {says} support item deletion"))


def _is_item_of_a_sequence(engine: Engine, obj: Abstract, index: Abstract) -> bool:
    """True where CPython takes `del obj[index]` for that of a sequence, as of instances of all classes in Python."""
    cls, key = class_of(engine, obj).value, class_of(engine, index).value
    return hasattr(key, "__index__") and (hasattr(cls, "__len__") or bool(cls.__flags__ & _HEAP_TYPE))


_HEAP_TYPE = 1 << 9
"""The bit of `type.__flags__` of classes that a program makes (`Py_TPFLAGS_HEAPTYPE`)."""


# ---------------------------------------------------------------- operators


def _not_implemented(value: Abstract) -> bool:
    return isinstance(value, Const) and value.value is NotImplemented


def _try(engine: Engine, value: Abstract, name: str, other: Abstract) -> Abstract | None:
    method = objects.special_method(engine, value, name)
    if method is None:
        return None
    result = engine.call(method, [other])
    return None if _not_implemented(result) else result


def _user_class(engine: Engine, value: Abstract) -> type | None:
    if isinstance(value, Ref):
        return objects.written_in_python(engine.state.get(value.cell))
    if isinstance(value, Const):
        return type(value.value) if isinstance(value.value, enum.Enum) else None
    return value.cls if isinstance(value, Tuple) and value.cls is not tuple else None


def _dispatch(engine: Engine, name: str, reflected: str, left: Abstract, right: Abstract) -> Abstract | None:
    """Python's rule for two operands: the right one first if its class is a proper subclass that overrides."""
    cls_left, cls_right = _user_class(engine, left), _user_class(engine, right)
    if cls_left is None and cls_right is None:
        return None
    order = [(left, name, right), (right, reflected, left)]
    if cls_left is not None and cls_right is not None:
        overrides = classes.lookup_class(cls_right, reflected) is not classes.lookup_class(
            cls_left, reflected
        )
        if cls_left is not cls_right and issubclass(cls_right, cls_left) and overrides:
            order.reverse()
        elif cls_left is cls_right and name != reflected and not name.startswith("__l") and name[2] != "g":
            order = order[:1]
    for value, method, other in order:
        found = _try(engine, value, method, other)
        if found is not None:
            return found
    return None


def may_overload(value: Any) -> bool:
    """Whether a value may be an instance of a class with operators of its own."""
    return isinstance(value, Ref | Tuple | Records) or isinstance(
        value.value if isinstance(value, Const) else value, enum.Enum
    )


def overloaded(engine: Engine, op: str, left: Abstract, right: Abstract) -> Abstract | None:
    """`left op right` as the special methods of user classes answer it; None if they do not."""
    if isinstance(left, Records) or isinstance(right, Records):
        return structured.compare(engine, op, left, right)
    if op in _COMPARE:
        return compare_method(engine, op, left, right)
    if operators.converts_sequence(engine, op, left, right):
        return None
    name = _BINARY[op]
    return _dispatch(engine, f"__{name}__", f"__r{name}__", left, right)


def inplace(engine: Engine, op: str, left: Abstract, right: Abstract) -> Abstract:
    """`left op= right`: the value that the target is bound to afterwards."""
    if isinstance(left, Records) or isinstance(right, Records):
        structured.refuse(engine, f"the operator {op}=")
    answers = _user_class(engine, left) and not operators.converts_sequence(engine, op, left, right)
    found = _try(engine, left, f"__i{_BINARY[op]}__", right) if answers else None
    if found is not None:
        return found
    found = overloaded(engine, op, left, right)
    if found is not None:
        return found
    if isinstance(left, Ref) and isinstance(
        engine.state.get(left.cell), ArrayCell | ListCell | RowsCell | DictCell | TableCell | MemberCell
    ):
        engine.settle(left)
    return operators.inplace(engine, op, left, right)


def compare_method(engine: Engine, op: str, left: Abstract, right: Abstract) -> Abstract | None:
    """The comparison as the special methods of user classes answer it; None if they do not."""
    name, reflected = _COMPARE[op]
    found = _dispatch(engine, f"__{name}__", f"__{reflected}__", left, right)
    if found is None and op == "!=" and (_user_class(engine, left) or _user_class(engine, right)):
        equal = _dispatch(engine, "__eq__", "__eq__", left, right)
        if equal is not None:
            return engine.negate(equal)
    are_objects = bool(_user_class(engine, left) and _user_class(engine, right))
    if (
        found is None
        and op in ("==", "!=")
        and isinstance(left, Ref)
        and isinstance(right, Ref)
        and are_objects
    ):
        same = engine.same_object(left, right)
        if same is not None:
            return same if op == "==" else engine.negate(same)
    return found


def contains(engine: Engine, item: Abstract, container: Abstract) -> Abstract:
    """`item in container`."""
    method = objects.special_method(engine, container, "__contains__")
    if isinstance(item, Records) or isinstance(container, Records):
        structured.refuse(engine, "`in`")
    if method is not None:
        return engine.truth(engine.call(method, [item]))
    if generators.is_suspended(engine, container):
        return engine.truth(run_program(engine, builtins.contains, [container, item]))
    if is_iterator(engine, container):
        return _left_in(engine, item, cast(Ref, container))
    return operators.contains(engine, item, container)


def _left_in(engine: Engine, item: Abstract, iterator: Ref) -> Abstract:
    """`item in iterator`, which takes elements up to the first that is equal."""
    while (element := taken(engine, iterator)) is not None:
        same = same_or_equal(engine, element, item, lambda x, y: engine.truth(engine.compare("==", x, y)))
        if not isinstance(same, Const):
            why = "the values decide how many elements it takes"
            instead = "make a list of it first"
            name = "`in` of an iterator"
            raise DiagnosticError(NotServed(span=engine.b.span, name=name, why=why, instead=instead))
        if same.value:
            return TRUE
    return FALSE


def unary(engine: Engine, op: str, value: Abstract) -> Abstract:
    """`-x`, `+x`, `~x`."""
    if isinstance(value, Records):
        structured.refuse(engine, f"the operator {op}")
    method = objects.special_method(engine, value, _UNARY[op])
    return engine.call(method, []) if method is not None else operators.unary(engine, op, value)


def length(engine: Engine, value: Abstract) -> Abstract:
    """`len(value)`."""
    method = objects.special_method(engine, value, "__len__")
    if method is not None:
        return engine.call(method, [])
    return engine.call(Const(len), [value])
