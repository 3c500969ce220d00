"""Invocation: what a call does, by the kind of its callee."""

from __future__ import annotations

import enum
import functools
import inspect
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ...diagnostics.codes_calls import UnknownCallable, WrongArguments
from ...diagnostics.codes_jax import NotForJax, RefusedByJax
from ...diagnostics.codes_types import NoSuchOperation, NotNumeric
from ...diagnostics.diagnostic import DiagnosticError, Note
from ...frontend import FrontendError, stage_function
from ...hlo.types import ShapeError
from ...library.jax.functions.jit import under_jit
from ...library.jax.random import is_key
from ...library.jax.traced_calls import holds_numbers, is_jax_callable, jax_call, takes_as_pytrees
from ...library.jax.transformed_functions import is_transformed, transformation_of
from ...library.numpy.subscripts import structured
from ...library.operands.libraries import raise_axis
from ...library.operands.rows_as_arrays import arrays_of_rows, is_of_any_type
from ...library.registry import accepts, meaning_of, signature_of
from ...library.rules.classes import class_name, is_generated
from ...library.rules.jax import AxisProblem
from ...policy import is_built_on_jax, is_closed, is_of_jax, package_of
from ...values.boundary import CallableMember, Path
from ...values.gated import Gated
from ...values.lattice import (
    NONE,
    Abstract,
    Closure,
    Const,
    Exc,
    Meaning,
    Method,
    Partial,
    Ref,
    Tuple,
    Unknown,
)
from ..core.binding import bind
from ..core.engine import Engine
from ..diagnostics.foreign import callable_name, is_foreign, unknown_call, whole_refusal
from ..objects import dataclass_methods, initialisation, namedtuples, objects
from ..objects.generic_functions import dispatched, is_dispatch
from ..state.callees import Callee
from ..state.frame import PythonRaise
from ..state.numpy_calls import OF_NUMPY, NoRepresentative, NumpyCall, called
from ..state.speculate import commit_unless
from .calls import call_function, suspended

Args = Sequence[Abstract]
Kwargs = Mapping[str, Abstract]


def call(engine: Engine, function: Abstract, args: Args, kwargs: Kwargs) -> Abstract:
    """`function(*args, **kwargs)`."""
    match function:
        case Meaning(name, meaning):
            return call_meaning(engine, name, meaning, args, kwargs, called(name, meaning, None))
        case Const(value) if not isinstance(value, enum.Enum):
            return _call_constant(engine, value, args, kwargs)
        case Closure():
            return _call_closure(engine, function, args, kwargs)
        case Method(inner, receiver):
            return call(engine, inner, [receiver, *args], kwargs)
        case Partial(inner, first, named):
            return call(engine, inner, [*first, *args], {**dict(named), **kwargs})
        case Gated():
            return call(engine, engine.certain(function), args, kwargs)
        case Unknown(reason):
            raise DiagnosticError(reason)
    method = objects.special_method(engine, function, "__call__")
    if method is not None:
        return call(engine, method, args, kwargs)
    engine.raise_(TypeError(f"{class_name(engine, function)!r} object is not callable"))


def call_meaning(
    engine: Engine,
    name: str,
    meaning: Callable[..., Abstract],
    args: Args,
    kwargs: Kwargs,
    function: Callable[..., Any] | None = None,
) -> Abstract:
    """Calls a library function; an argument that it does not name is refused.

    `function`: the function of NumPy that it stands for, which says what exceptions are.
    """
    given = (*args, *kwargs.values())
    classes = {*map(type, given)}
    if Unknown in classes:
        raise DiagnosticError(next(a.reason for a in given if isinstance(a, Unknown)))
    if Gated in classes and not getattr(meaning, "takes_alternatives", False):
        args = [engine.certain(a) if type(a) is Gated else a for a in args]
        kwargs = {name: engine.certain(a) if type(a) is Gated else a for name, a in kwargs.items()}
    numpy_call, refused = None, None
    if function is not None:
        numpy_call = NumpyCall(name, function, args, kwargs, engine.state.depth)
        refused = numpy_call.refusal(engine.state.slots.get)
        if isinstance(refused, TypeError | AttributeError) or (
            refused and numpy_call.draws(engine.state.slots.get)
        ):
            engine.raise_(refused)
        args, kwargs = _without_defaults(meaning, args, kwargs)
    if not accepts(meaning, len(args), kwargs):
        try:
            bound = signature_of(meaning).bind(*args, **kwargs)
        except TypeError as error:
            why = _not_staged(signature_of(meaning), args, kwargs) or str(error)
            raise DiagnosticError(WrongArguments(span=engine.b.span, name=name, why=why)) from None
        args, kwargs = bound.args, bound.kwargs
    if refused is None:
        try:
            return _meant(engine, name, meaning, args, kwargs, numpy_call)
        except DiagnosticError as error:
            if numpy_call is not None:
                _raise_in_try(engine, error, numpy_call)
            raise
    try:
        with commit_unless(engine, _RefusedByNumpy):
            try:
                _meant(engine, name, meaning, args, kwargs, None)
            except (PythonRaise, ShapeError, *OF_NUMPY):
                pass
            except DiagnosticError as error:
                if (
                    error.diagnostic.plain is not None and not engine.raises.bodies
                ):  # it explains what is raised
                    raise
            raise _RefusedByNumpy
    except _RefusedByNumpy:
        engine.raise_(refused)


_DEFAULTS = {"device": (None, "cpu"), "like": (None,), "subok": (True, False)}
"""Values of keywords of NumPy's functions that say nothing of arrays on the CPU which are of no subclass."""


def _without_defaults(meaning: Callable[..., Abstract], args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    """The arguments of a call of NumPy without those that say nothing: `np._NoValue`, and `_DEFAULTS`."""
    known = {name: value.value for name, value in kwargs.items() if type(value) is Const}
    empty = {name for name, value in known.items() if value is np._NoValue}
    if not _DEFAULTS.keys().isdisjoint(known):
        named = signature_of(meaning).parameters
        empty |= {
            n for n, values in _DEFAULTS.items() if n in known and n not in named and known[n] in values
        }
    while args and type(args[-1]) is Const and args[-1].value is np._NoValue:
        args = args[:-1]
    return args, {name: value for name, value in kwargs.items() if name not in empty}


def _not_staged(signature: inspect.Signature, args: Args, kwargs: Kwargs) -> str | None:
    """The arguments of a call that its meaning does not have, in words; None where something else is wrong.

    The function itself may have them: what NumPy refuses, NumPy has been asked.
    """
    unknown = [f"`{name}`" for name in kwargs if name not in signature.parameters]
    if unknown:
        return f"the keyword{'s' * (len(unknown) > 1)} {', '.join(unknown)} {'are' if len(unknown) > 1 else 'is'} not staged"
    positional = [p for p in signature.parameters.values() if p.kind <= p.POSITIONAL_OR_KEYWORD]
    if len(args) > len(positional):
        plural = "s" * (len(positional) != 1)
        return f"it is staged with {len(positional) or 'no'} positional argument{plural} at most"
    return None


def applied(
    engine: Engine, operator: Callable[..., Any], operands: Args, make: Callable[[], Abstract]
) -> Abstract:
    """The result of `make`, an operator's implementation; see `_raise_in_try`."""
    try:
        return make()
    except DiagnosticError as error:
        call = NumpyCall(operator.__name__, operator, operands, {}, engine.state.depth)
        _raise_in_try(engine, error, call)
        raise


def _raise_in_try(engine: Engine, error: DiagnosticError, call: NumpyCall) -> None:
    """In the body of a `try`, raises in the program what the plain run raises, where a diagnostic explains that.

    Returns where it explains something else, and where the exception is not known.
    """
    plain = error.diagnostic.plain
    if plain is None or not engine.raises.bodies:
        return
    try:
        own = call.exception(engine.state.slots.get)
    except NoRepresentative:
        return
    if isinstance(own, plain):
        engine.raise_(own)


class _RefusedByNumpy(Exception):
    """Raised where NumPy refuses a call that its meaning computes."""


def _meant(
    engine: Engine,
    name: str,
    meaning: Callable[..., Abstract],
    args: Args,
    kwargs: Kwargs,
    numpy_call: NumpyCall | None,
) -> Abstract:
    """The result of a meaning for a call, with the exceptions of `numpy_call` if it stands for a function of NumPy."""
    callees, cells, around = engine.callees, engine.state.slots.get, engine.callees.numpy_call
    of_jax = name.startswith("jax")
    if numpy_call is not None and (around is None or not around.is_closed(cells)):
        callees.numpy_call = numpy_call
    try:
        with callees.trace(engine.state.next_cell) if of_jax else nullcontext():
            return meaning(engine, *args, **kwargs)
    except AxisProblem as problem:
        raise_axis(engine, problem, of_jax)
    except PythonRaise as raised:
        if callees.numpy_call is numpy_call:
            callees.refuse_what_numpy_does(raised, engine.state, engine.b.span)
        raise
    except OF_NUMPY as error:
        own = callees.numpys_own(error, engine.state, engine.b.span)
        if own is not error:
            engine.raise_(own)
        if not isinstance(error, np.exceptions.DTypePromotionError):
            raise
        types = "element types that NumPy brings to no common one"
        raise DiagnosticError(NoSuchOperation(span=engine.b.span, operation=name, types=types)) from None
    finally:
        callees.numpy_call = around


def _is_of_numpy(value: Any) -> bool:
    """True for a function of NumPy's, or a method of one, which makes arrays of lists."""
    if isinstance(getattr(value, "__self__", None), np.ufunc):
        return True
    return _is_module_of_numpy(getattr(value, "__module__", None) or type(value).__module__)


def _is_module_of_numpy(module: str) -> bool:
    return module == "numpy" or module.startswith("numpy.")


def _is_of_jax_numpy(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith(("jax.numpy", "jax._src.numpy"))


def _takes_arrays(value: Any) -> bool:
    """True for what NumPy and JAX have: functions, ufuncs, dtypes."""
    return _is_of_numpy(value) or is_of_jax(value)


def _call_on_keys(engine: Engine, value: Any, args: Args, kwargs: Kwargs) -> Abstract:
    """A call of a function of arrays with typed PRNG keys, which JAX alone can judge."""
    if is_jax_callable(value):
        return jax_call(engine, value, list(args), dict(kwargs))
    if value in (np.shape, np.ndim, np.size) and len(args) == 1 and not kwargs:
        return engine.getattr(args[0], value.__name__)
    what = callable_name(value)
    raise DiagnosticError(NotNumeric(span=engine.b.span, what=what, kind="a typed PRNG key"))


def _call_constant(engine: Engine, value: Any, args: Args, kwargs: Kwargs) -> Abstract:
    if id(value) in engine.callees.own:
        return _call_own(engine, value, args, kwargs)
    if value is warnings.warn and engine.frame is not None and _is_module_of_numpy(engine.frame.module):
        return NONE  # no program gives NumPy's warnings
    meaning = meaning_of(value)
    of_records = structured.function_of(engine, value, args, kwargs) if _takes_arrays(value) else None
    if of_records is not None:
        return call_meaning(engine, callable_name(value), of_records, args, kwargs)
    if meaning is not None:
        of_arrays = _is_of_numpy(value) or _is_of_jax_numpy(value)
        if of_arrays and any(is_key(a) for a in (*args, *kwargs.values())):
            return _call_on_keys(engine, value, args, kwargs)
        if _is_of_numpy(value) and not getattr(meaning, "joins_rows", False):
            of_any_type = is_of_any_type(value, args, kwargs)
            args = [arrays_of_rows(engine, a, of_any_type=of_any_type) for a in args]
            kwargs = {name: arrays_of_rows(engine, a, of_any_type=of_any_type) for name, a in kwargs.items()}
        name = callable_name(value)
        return call_meaning(engine, name, meaning, args, kwargs, called(name, meaning, value))
    staged = getattr(value, "__pystage_function__", None)
    if staged is not None:
        path = Path(CallableMember(value, callable_name(value))).attribute("__pystage_function__")
        return call(engine, engine.externals.value(path, staged), args, kwargs)
    if isinstance(value, type | types.FunctionType | types.MethodType):
        refusal = whole_refusal(value, engine.b.span, engine.frame)
        if refusal is not None:
            raise DiagnosticError(refusal)
    if isinstance(value, type):
        if package_of(value).fixed and not issubclass(value, BaseException):
            return _library_class(engine, value, args, kwargs)
        if issubclass(value, tuple) and hasattr(value, "_fields"):
            return namedtuples.construct(engine, value, args, kwargs)
        made = objects.construct(engine, value, args, kwargs)
        return initialisation.initialised(engine, made) if isinstance(made, Exc) else made
    if isinstance(value, functools.partial):
        read, path = engine.externals.value, Path(CallableMember(value, "partial"))
        inner = read(path.attribute("func"), value.func)
        first = [read(path.attribute("args").item(i), a) for i, a in enumerate(value.args)]
        named = {k: read(path.attribute("keywords").item(k), a) for k, a in value.keywords.items()}
        return call(engine, inner, [*first, *args], {**named, **kwargs})
    of_jax = is_jax_callable(value)
    if of_jax and not _from_source(engine, value, args, kwargs):
        if _has_source(value) and holds_numbers(engine, args, kwargs):
            try:
                return _staged_from_source(engine, value, args, kwargs)
            except _RefusedFromSource:  # then as JAX traces it
                pass
        try:
            return jax_call(engine, value, list(args), dict(kwargs))
        except DiagnosticError as error:
            if not isinstance(error.diagnostic, NotForJax | RefusedByJax) or not _has_source(value):
                raise
    if is_dispatch(value) and len(args) == 1 and not kwargs:
        return Const(dispatched(engine, value, args[0]))
    if is_transformed(value):
        return call(engine, _transformed_by_jax(engine, value), args, kwargs)
    if isinstance(value, types.FunctionType):
        if not (of_jax or is_generated(value) or is_closed(value)):
            engine.externals.keep.append(value)
            engine.callees.own.add(id(value))
        return _call_python(engine, value, args, kwargs)
    if isinstance(value, types.MethodType):
        return call(
            engine,
            engine.externals.value(Path(CallableMember(value, callable_name(value))), value),
            args,
            kwargs,
        )
    under = under_jit(value)
    if under is not None:
        return call(engine, under, args, kwargs)
    wrapped = getattr(value, "__wrapped__", None)
    if isinstance(wrapped, types.FunctionType) and isinstance(value, _WRAPPERS):
        return _call_python(engine, wrapped, args, kwargs)
    if callable(value):
        method = type(value).__call__
        if is_built_on_jax(value) and isinstance(method, types.FunctionType):
            return _call_python(engine, method, [Const(value), *args], kwargs)
        raise DiagnosticError(unknown_call(value, engine.b.span, engine.frame))
    engine.raise_(TypeError(f"{type(value).__name__!r} object is not callable"))


_WRAPPERS = functools._lru_cache_wrapper, type(np.sum)
"""Classes of callables that call the Python function that they wrap, whatever else they do."""


def _from_source(engine: Engine, value: Any, args: Args, kwargs: Kwargs) -> bool:
    """True for a function of a package built on JAX that is given what JAX cannot take: functions, objects under
    construction.

    And for what finds attributes: it may give a method, which refers to its object. Of a generator nothing runs when it is
    called.
    """
    if not _has_source(value):
        return False
    if value.__name__ in ("__getattribute__", "__getattr__") or inspect.isgeneratorfunction(value):
        return True
    made = any(isinstance(a, Ref) and a.cell in engine.constructing for a in args)
    return made or not takes_as_pytrees(engine, args, kwargs)


class _RefusedFromSource(Exception):
    """Raised where something in a function of a package built on JAX is refused."""


def _staged_from_source(engine: Engine, function: types.FunctionType, args: Args, kwargs: Kwargs) -> Abstract:
    """Stages a call of a function of a package built on JAX; `_RefusedFromSource`, without an effect, if it is refused."""
    with commit_unless(engine, _RefusedFromSource) as trial:
        try:
            found = _call_python(engine, function, args, kwargs)
        except DiagnosticError as error:
            raise _RefusedFromSource from error
        except PythonRaise:
            if trial.refused:  # it follows from what was refused
                raise _RefusedFromSource from None
            raise
        if trial.refused or isinstance(found, Unknown):
            raise _RefusedFromSource
    return found


def _has_source(value: Any) -> bool:
    """True for a function of a package built on JAX, which is staged like the program's own where JAX cannot take it."""
    return isinstance(value, types.FunctionType) and not is_of_jax(value)


def _transformed_by_jax(engine: Engine, value: types.FunctionType) -> Abstract:
    """The meaning, in staged source, of `jax.grad(f)` and the like that were made outside of it."""
    made = transformation_of(value)
    if made is None:
        why = "JAX has made it of a function of the program, which staged source cannot see through"
        raise DiagnosticError(UnknownCallable(span=engine.b.span, name=callable_name(value), why=why))
    transformation, function, options = made
    inner = engine.externals.value(Path(CallableMember(function, callable_name(function))), function)
    return call(engine, Const(transformation), [inner], {n: Const(v) for n, v in options.items()})


def _library_class(engine: Engine, value: Any, args: Args, kwargs: Kwargs) -> Abstract:
    if is_jax_callable(value):
        return jax_call(engine, value, list(args), dict(kwargs))
    if all(isinstance(a, Const) for a in (*args, *kwargs.values())):
        constants = [cast(Const, a).value for a in args]
        named = {k: cast(Const, v).value for k, v in kwargs.items()}
        try:
            made = value(*constants, **named)
        except Exception as error:
            engine.raise_(error)
        return engine.constant_object(made)
    raise DiagnosticError(unknown_call(value, engine.b.span, engine.frame))


def _call_python(engine: Engine, function: types.FunctionType, args: Args, kwargs: Kwargs) -> Abstract:
    if is_generated(function):
        for written in (dataclass_methods.call_written, namedtuples.call_written):
            made = written(engine, function, args, kwargs)
            if made is not None:
                return made
    if is_closed(function):
        why = "it is not among the functions that pystage stages"
        raise DiagnosticError(unknown_call(function, engine.b.span, engine.frame, why))
    return _call_own(engine, function, args, kwargs)


def _call_own(engine: Engine, function: types.FunctionType, args: Args, kwargs: Kwargs) -> Abstract:
    callee, defaults = _python_callee(engine, function)
    bound = bind(callee.function.params, function.__qualname__, args, kwargs, defaults, engine)
    if callee.function.is_generator:
        cells = tuple(callee.cells.items())
        return suspended(
            engine, Closure(callee.function, callee.namespace, callee.module, (), (), cells), bound
        )
    mark = len(engine.errors.found)
    result = call_function(engine, callee, bound)
    if len(engine.errors.found) > mark and is_foreign(callee.function.span, engine.frame):
        return Unknown(engine.errors.found[mark])  # what a library makes of it is no further error
    return result


def _python_callee(engine: Engine, function: types.FunctionType) -> tuple[Callee, dict[str, Abstract]]:
    found = engine.callees.of_python.get(id(function))
    if found is None:  # kept alive by the callee's own keep
        found = engine.callees.of_python[id(function)] = python_callee(engine, function)
    return found


_SOURCE_CODES = ("PS101", "PS102", "PS103", "PS104")
"""Codes of functions whose source cannot be found: the call is the place to report."""


def python_callee(engine: Engine, function: types.FunctionType) -> tuple[Callee, dict[str, Abstract]]:
    """A real Python function as a callee, and its defaults as values of the environment."""
    try:
        staged = stage_function(function)
    except FrontendError as error:
        *others, last = error.diagnostics
        for diagnostic in others:
            engine.errors.add(diagnostic)
        if engine.frame is not None and last.code in _SOURCE_CODES:
            known = unknown_call(function, engine.b.span, engine.frame)
            if known.has_advice:
                raise DiagnosticError(known) from None
            note = Note(f"{function.__qualname__} is defined here", last.span)
            last = replace(last, span=engine.b.span, notes=(*last.notes, note))
        raise DiagnosticError(last) from None
    if engine.trail is not None:
        engine.trail.define(staged, function)
    engine.externals.keep.append(function)
    path = Path(CallableMember(function, function.__qualname__))
    engine.externals.note_function(function, path)
    cells: dict[str, int] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        cells[name] = engine.externals.closure_cell(name, cell)
    defaults: dict[str, Abstract] = {}
    params = staged.params
    ordered = [*params.positional_only, *params.positional]
    values = function.__defaults__ or ()
    for i, value in enumerate(values):
        default = engine.externals.value(path.attribute("__defaults__").item(i), value)
        defaults[ordered[len(ordered) - len(values) + i]] = default
    for name, value in (function.__kwdefaults__ or {}).items():
        defaults[name] = engine.externals.value(path.attribute("__kwdefaults__").item(name), value)
    identity = (staged, id(function.__globals__))
    return Callee(staged, function.__globals__, function.__module__ or "", cells, identity), defaults


def _defaults(closure: Closure) -> dict[str, Abstract]:
    """The defaults of a closure's parameters, by name."""
    params = closure.function.params
    ordered = [*params.positional_only, *params.positional]
    found = dict(zip(ordered[len(ordered) - len(closure.defaults) :], closure.defaults))
    return {**found, **dict(closure.kw_defaults)}


def _call_closure(engine: Engine, closure: Closure, args: Args, kwargs: Kwargs) -> Abstract:
    params = closure.function.params
    bound = bind(params, closure.function.qualname, args, kwargs, _defaults(closure), engine)
    if closure.function.is_generator:
        return suspended(engine, replace(closure, defaults=(), kw_defaults=()), bound)
    callee = Callee(
        closure.function, closure.namespace, closure.module, dict(closure.cells), closure.function
    )
    return call_function(engine, callee, bound)


def callable_text(function: Abstract) -> str:
    """The name of a callable value in a message."""
    match function:
        case Const(value):
            return callable_name(value).rpartition(".")[2]
        case Closure():
            return function.function.name
        case Method(inner):
            return callable_text(inner)
    return "the function"


def by_position(engine: Engine, function: Abstract, args: Args, kwargs: Kwargs) -> list[Abstract] | None:
    """All arguments of a call of a user function by position, defaults included; None if some cannot be passed so."""
    match function:
        case Const(value) if isinstance(value, types.FunctionType):
            callee, defaults = _python_callee(engine, value)
            params, name = callee.function.params, value.__qualname__
        case Closure():
            params, defaults, name = function.function.params, _defaults(function), function.function.qualname
        case Method(inner, receiver):
            found = by_position(engine, inner, [receiver, *args], kwargs)
            return None if found is None else found[1:]
        case _:
            return None if kwargs else list(args)
    bound = bind(params, name, args, kwargs, defaults, engine)
    if params.keyword_only or (params.double_star is not None and kwargs.keys() - bound.keys()):
        return None
    rest = bound.get(params.star) if params.star is not None else None
    extra = rest.items if isinstance(rest, Tuple) else ()
    return [*[bound[name] for name in (*params.positional_only, *params.positional)], *extra]
