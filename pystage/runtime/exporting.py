"""Export of compiled functions as bytes, and back: `CompiledFunction.export` and `pystage.load`.

What is loaded is a compiled function whose one program is that of the file: calls are dispatched, run and finished as those
of any other. `cache/exported.py` has what stands in the bytes.
"""

from __future__ import annotations

import collections
import functools
import inspect
import keyword
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as File
from typing import Any, NoReturn

from ..compiler.diagnostics.codes_runtime import CannotExport
from ..compiler.diagnostics.errors import StagingError
from ..compiler.pipeline import Request, Staged
from ..compiler.values.boundary import (
    ConstantTemplate,
    ContainerTemplate,
    Form,
    LeafSpec,
    RowsSpec,
    Spec,
    StaticSpec,
    StructureSpec,
    Template,
)
from ..compiler.values.generators import GENERATORS
from .arguments.abstract import abstract_form
from .arguments.differences import difference
from .arguments.signature import Signature
from .arguments.targets import Target
from .cache.encoding import NotEncodable
from .cache.exported import ExportedProgram, HeldObject, Unread, can_encode, decoded, exported
from .dispatch.dispatch import Described, Dispatcher
from .dispatch.specialisation import Specialisation, SpecialisationContext
from .function import CompiledFunction
from .guards.environment import Reader, resolve
from .guards.feedback import Feedback
from .outcomes import Elsewhere, Outgrown
from .reports.ledger import Change
from .results.exceptions import capacity_outgrown
from .results.objects import Execution, Objects


def export(
    function: CompiledFunction[..., Any], args: Sequence[Any], kwargs: dict[str, Any], held: int = 0
) -> bytes:
    """The program of a compiled function for these arguments, as bytes. StagingError if it cannot be staged or exported.

    The first `held` arguments are kept in it, beside those that the callable itself holds.
    """
    dispatcher, target = function.dispatcher, function.target_of_calls
    canonical, named = function.canonical(args, kwargs)
    dispatcher.calling.check(canonical, named)
    described = dispatcher.describe(canonical, named, abstract_form)
    context = dispatcher.context(described, traced=False)
    made, _ = dispatcher.specialise(context, described, canonical, named, {})
    try:
        program = _program(dispatcher, target, described, context, made, held)
        if (context.layouts.ins, context.layouts.outs) != (None, None):
            raise NotEncodable("its arrays are laid out over devices of this process")
        signature = context.signature
        return exported(program, lambda path: resolve(path, signature)(canonical, named))
    except NotEncodable as error:
        problem = CannotExport(span=dispatcher.span, function=dispatcher.name, why=str(error))
        raise StagingError((problem,)) from None


def _program(
    dispatcher: Dispatcher,
    target: Target,
    described: Described,
    context: SpecialisationContext,
    made: Specialisation,
    held: int,
) -> ExportedProgram:
    leaves = described.description.leaves
    count = len(target.args) + held
    names = dispatcher.calling.argument_names(len(described.args))
    first = [_standing_in(spec) for spec in described.args[:count]]
    given = {**dict(zip(names, described.args)), **described.kwargs}
    own = {name: _standing_in(given[name]) for name in target.kwargs}
    if any("[" in name for name in names[:count]):
        raise NotEncodable("it holds arguments that come as a tuple of any length")
    plain: Any = target.fn
    return ExportedProgram(
        name=dispatcher.name,
        qualname=str(getattr(plain, "__qualname__", dispatcher.name)),
        module=str(getattr(plain, "__module__", "")),
        doc=plain.__doc__ if isinstance(plain.__doc__, str) else None,
        span=dispatcher.span,
        parameters=_parameters(plain),
        first=tuple([_remade(spec, leaves) for spec in first]),
        first_named={name: _remade(spec, leaves) for name, spec in own.items()},
        held=(*names[:count], *own),
        args=(*first, *[own.get(name, spec) for name, spec in zip(names[count:], described.args[count:])]),
        kwargs={name: own.get(name, spec) for name, spec in described.kwargs.items()},
        x64=context.x64,
        donate=dispatcher.donated,
        staged=made.staged,
        capacities=dict(made.request.capacities),
        skips_writes=made.request.skips_writes,
    )


_KINDS = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD,
)
"""By number."""


def _parameters(fn: Callable[..., Any]) -> tuple[tuple[str, int, bool], ...]:
    found = inspect.signature(fn, follow_wrapped=False).parameters.values()
    return tuple([(p.name, int(p.kind), p.default is not p.empty) for p in found])


_CONTAINERS = (list, tuple, dict, collections.OrderedDict, collections.Counter, slice, range)


def _standing_in(spec: Spec) -> Spec:
    """An argument that the callable holds, without its classes, and without parts that the program does not read."""
    match spec:
        case StaticSpec(value=value) if not can_encode(value):
            return StaticSpec(Unread.HERE)
        case StructureSpec(cls=cls) if cls in GENERATORS:
            raise NotEncodable(f"it holds a {cls.__qualname__}, which draws")
        case StructureSpec(cls=cls, children=children):
            is_object = cls not in _CONTAINERS and not issubclass(cls, tuple)
            made = tuple([_standing_in(child) for child in children])
            return replace(spec, cls=HeldObject if is_object else cls, children=made)
    return spec


def _remade(spec: Spec, leaves: Sequence[Any]) -> Template:
    """The function that makes an argument anew."""
    match spec:
        case LeafSpec(index=index):
            return ConstantTemplate(leaves[index])
        case StaticSpec(value=value):
            return ConstantTemplate(value)
        case StructureSpec(cls=cls, keys=keys, children=children, identity=identity):
            return ContainerTemplate(cls, keys, tuple([_remade(c, leaves) for c in children]), identity)
        case RowsSpec(cls=cls, element=element, length=length, identity=identity):
            items = tuple([ConstantTemplate(item) for item in _rows(element, leaves)])
            return ContainerTemplate(cls, tuple(range(length)), items, identity)


def _rows(element: Spec, leaves: Sequence[Any]) -> list[Any]:
    """The elements that `element` is one of."""
    if isinstance(element, LeafSpec):
        found: list[Any] = leaves[element.index].tolist()
        return found
    assert isinstance(element, StructureSpec)
    columns = [_rows(child, leaves) for child in element.children]
    return [tuple.__new__(element.cls, parts) for parts in zip(*columns, strict=True)]


# ---------------------------------------------------------------- loading


def load(data: bytes | bytearray | memoryview | str | os.PathLike[str]) -> LoadedFunction:
    """The function whose program `export` gave as bytes, from the bytes or from a file of this path.

    It takes arguments of the types that it was exported for, and does with them what the function did: it gives results of
    the same kinds, changes its arguments, and raises exceptions with the function's lines. TypeError for other
    arguments. ValueError for bytes that are damaged, no exported program or another version's; ImportError if a class of
    the user's that it makes or takes is not loaded. Load only what you trust: a program may call functions of libraries.
    """
    held = bytes(data) if isinstance(data, bytes | bytearray | memoryview) else File(data).read_bytes()
    program = decoded(held)
    try:
        return LoadedFunction(_holding(_stub(program), program), program, held)
    except (TypeError, AttributeError, LookupError, SyntaxError) as error:
        raise ValueError(f"this is no exported program: {error}") from error


def _holding(stub: Callable[..., Any], program: ExportedProgram) -> Callable[..., Any]:
    """The callable with the arguments that it holds."""
    if not program.held:
        return stub
    objects = Objects(Signature((), 0, (), None, None), (), {}, {}, traced=False)
    run = Execution((), {}, (), {})
    first = [objects.make(template)(run) for template in program.first]
    named = {name: objects.make(template)(run) for name, template in program.first_named.items()}
    return functools.partial(stub, *first, **named)


class LoadedFunction(CompiledFunction[..., Any]):
    """A function that runs one program, without a source: what `pystage.load` gives.

    As of a compiled function, but for calls with arguments of other types, which are a TypeError.
    """

    def __init__(self, fn: Callable[..., Any], program: ExportedProgram, data: bytes) -> None:
        super().__init__(fn, fallback=None, donate=frozenset(), name=program.name, infer=_not_inferred)
        self.__name__, self.__qualname__, self.__doc__ = program.name, program.qualname, program.doc
        self.__module__ = program.module
        self._data = data
        made = _ProgramDispatcher(self._target.fn, program, (CompiledFunction,))
        self._made = made
        if not self._leading:
            self._short = made.short

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the function as its bytes."""
        return load, (self._data,)

    def __repr__(self) -> str:
        return f"<pystage.load of {self.__module__}.{self.__qualname__}>"

    def explain(self, /, *args: Any, **kwargs: Any) -> Any:
        """TypeError: there is no source to explain."""
        raise TypeError(f"`{self._name}` was loaded, and has no source")

    residual = explain

    def export(self, /, *args: Any, **kwargs: Any) -> bytes:
        """The bytes that it was loaded from; arguments are of the types that it takes, or left out."""
        if args or kwargs:
            self.lower(*args, **kwargs)
        return self._data


def _not_inferred(*request: Any, **options: Any) -> NoReturn:
    raise Elsewhere


def _stub(program: ExportedProgram) -> Callable[..., Any]:
    """A function with the parameters of the exported one, which never runs."""
    parts: list[inspect.Parameter] = []
    for name, kind, optional in program.parameters:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"this is no exported program: {name!r} is no parameter")
        default = None if optional else inspect.Parameter.empty
        parts.append(inspect.Parameter(name, _KINDS[kind], default=default))
    scope: dict[str, Any] = {}
    exec(
        compile(f"def stub{inspect.Signature(parts)}: raise NotImplementedError", "<exported>", "exec"), scope
    )
    stub: Any = scope["stub"]
    stub.__name__, stub.__qualname__, stub.__module__ = program.name, program.qualname, program.module
    stub.__doc__ = program.doc
    return stub  # type: ignore[no-any-return]


class _FixedCapacities(Feedback):
    """Feedback of calls for which there is no other program."""

    def note_outgrown(self, outgrown: Outgrown) -> Change:
        """Raises PS815."""
        started = outgrown.writes is not None
        raise capacity_outgrown(outgrown.end, "an exported program", started) from None


class _ProgramDispatcher(Dispatcher):
    """Serves calls of one program's types."""

    def __init__(
        self, stub: Callable[..., Any], program: ExportedProgram, static_types: tuple[type, ...]
    ) -> None:
        super().__init__(stub, program.name, _not_inferred, program.donate, static_types)
        self._program = program
        self._feedback = _FixedCapacities()
        self.__dict__["span"] = program.span  # which is cached

    def infer(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Staged:
        """The program, if it serves these arguments, or abstract ones."""
        self.calling.check(args, kwargs)
        described = self.describe(args, kwargs, abstract_form)
        self._check(described.args, described.kwargs, described.value_of)
        return self._program.staged

    def _found(
        self,
        context: SpecialisationContext,
        request: Request,
        static: Mapping[int, Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> Staged:
        """The program; TypeError if it does not serve the call."""
        staged = self._program.staged
        self._check(request.args, request.kwargs, request.value_of)
        if all(form is Form.JAX for form in context.forms) and context.x64 != self._program.x64:
            raise TypeError(f"`{self.name}` was exported with jax_enable_x64 = {self._program.x64}")
        reader = Reader(staged.program.guards, (), (), context.signature)
        if reader.read(args, kwargs) is None:
            failing = reader.failing(args, kwargs)
            raise TypeError(
                f"`{self.name}` was exported for other arguments: `{failing[0].path}` is another one"
            )
        self._feedback.note_kept(self._program.capacities, (), self._program.skips_writes)
        return staged

    def _check(
        self, args: tuple[Spec, ...], kwargs: Mapping[str, Spec], value_of: Callable[[int], Any]
    ) -> None:
        wanted = self._program.args, self._program.kwargs
        static = self._program.staged.static
        problem = difference(self.calling, static, wanted, (args, kwargs), value_of)
        if problem is not None:
            raise TypeError(f"`{self.name}` was exported for other arguments: {problem}")
