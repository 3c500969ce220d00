"""Compiled functions: the result of `pystage.compile`.

What compiles and runs programs is loaded when a compiled function is first used: all of it lies behind its dispatcher.
"""

from __future__ import annotations

import copy
import functools
import os
import sys
import threading
import time
import types
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Literal,
    NamedTuple,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    overload,
)

from ..compiler.diagnostics.diagnostic import Diagnostic
from ..compiler.diagnostics.errors import StagingError
from ..compiler.diagnostics.span import Span
from ..compiler.diagnostics.traceback import AT_THE_CALL, end_at_the_call, leave_out_own_frames
from ..deferred import deferred
from .arguments.layouts import ANYWHERE, Layouts
from .arguments.sizes import size_reader
from .arguments.targets import Calling, Target, target_of
from .executables.jax_private import has_backend
from .outcomes import Elsewhere, HasLazy, Outgrown, Pending, Raised, Unprepared
from .recursive_runs import RecursiveRuns
from .reports.warnings import FallbackWarning, warn
from .tiers import Kind, Kinds, NotReady, Tier, Tiers, anything, compiled_beside, is_for_jax, only_ready

if TYPE_CHECKING:
    from ..compiler.pipeline import Infer, Staged
    from .buckets import Buckets
    from .dispatch.dispatch import Dispatcher, Short, Types
    from .lowering import Lowered
    from .reports.usage import Usage

_usage_of = deferred("pystage.runtime.reports.usage", "usage_of")
_new_dispatcher = deferred("pystage.runtime.dispatch.dispatch", "Dispatcher")
_as_raised_by_the_program = deferred("pystage.runtime.results.exceptions", "AsRaisedByTheProgram")
_buckets = deferred("pystage.runtime.buckets", "Buckets")
_warm_up = deferred("pystage.runtime.warm_up", "warm_up")
_lowered = deferred("pystage.runtime.lowering", "Lowered")
_reduced = deferred("pystage.runtime.pickling", "reduced")
_export = deferred("pystage.runtime.exporting", "export")
_jit = deferred("jax", "jit")
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
Fallback = Literal["lazy", "error", "python"]
Refusal = Fallback | Literal["caller"]
"""What happens to a call that cannot be staged; "caller": it runs in tiers, and the residual program that it is a part of
takes the StagingError."""
Run = Callable[[Callable[..., Any], Sequence[Any], dict[str, Any]], Any]
_COPIED = len(functools.WRAPPER_ASSIGNMENTS)
_making = threading.Lock()  # locked while a dispatcher is created, so that a function has one


class _Fork:
    """Handling of forks, in which XLA's threads are missing and would be waited for forever."""

    def __init__(self) -> None:
        self.lacks_xla = self._has_told = False
        self.functions: weakref.WeakSet[CompiledFunction[..., Any]] = weakref.WeakSet()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        if has_backend():
            self.lacks_xla = True
            for function in self.functions:
                function.forget_fast_paths()

    def tell(self, name: str, plainly: bool) -> None:
        """Warns, once, that a call that was to be compiled runs plainly, or may wait forever."""
        if self._has_told:
            return
        self._has_told = True
        what = "runs as plain Python" if plainly else "may never return"
        warn(
            f"a call of `{name}` {what}: this process was forked after XLA had started its threads, which a fork "
            'does not have; start processes with `multiprocessing.get_context("spawn")`',
            RuntimeWarning,
        )


_fork = _Fork()


def functions_in_tiers() -> list[CompiledFunction[..., Any]]:
    """The compiled functions that were called and not compiled at once."""
    return [function for function in list(_fork.functions) if function.tiers.all_kinds]


class Lazily(NamedTuple):
    """The part of `pystage.lazy` for compiled functions: runs a plain function on lazy tensors in place of ndarrays, a
    compiled one that is called with lazy tensors, and what is staged of one on ndarrays in place of these.
    """

    run: Run
    run_with_tensors: Run
    run_on_arrays: Run


class Offloaded(Protocol):
    """A plain function of which parts are staged (`pystage.offload`)."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Runs the function."""
        ...

    def residual(self, /, *args: Any, **kwargs: Any) -> Any:
        """The residual program."""
        ...


def _plainly(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


EAGER = Lazily(_plainly, _plainly, _plainly)
"""Without lazy tensors."""


class CompiledFunction(Generic[P, R]):
    """A function that runs as one compiled program for each kind of arguments.

    Made by `pystage.compile`. Calling it gives what the plain function gives. Where a call cannot be staged, the
    fallback says what happens: StagingError, or the plain function runs, on lazy tensors or as it is; None for a
    function that has no plain run.
    """

    def __init__(
        self,
        fn: Callable[P, R],
        *,
        fallback: Callable[[], Refusal] | None,
        tier: Callable[[], Tier] | None = None,
        donate: frozenset[int | str],
        name: str | None,
        infer: Infer,
        lazily: Lazily = EAGER,
        offload: Callable[[Callable[..., Any], Sequence[Diagnostic] | None], Offloaded] | None = None,
        continuations: Callable[[Callable[..., Any]], Any] | None = None,
        explain: Callable[..., Any] | None = None,
        transformed: Callable[..., Any] | None = None,
        again: Callable[[Callable[..., Any]], CompiledFunction[..., Any]] | None = None,
        of: Callable[..., Any] | None = None,
        layouts: Layouts = ANYWHERE,
        bucket: Any = None,
    ) -> None:
        target = target_of(fn)
        functools.update_wrapper(self, fn, updated=("__dict__",) if target.fn is fn else ())
        copied = vars(self).keys() - {"__wrapped__"}
        self.__wrapped__ = fn
        self._plain = fn.__func__ if isinstance(fn, staticmethod | classmethod) else fn
        self.transformed = transformed
        """Of a derivative, the function with the same arguments that it is one of."""
        self._again = again
        """Compiles a function as this one, and makes the same of it."""
        self._of = fn if of is None else of
        """What it is made of: the plain function, or the function that it is a transform of."""
        self._target = target
        self._fallback = fallback
        self._lazily = lazily
        self._offload = offload
        self._explain = explain
        self._infer = infer
        self._offloaded: Offloaded | None = None
        self._warned: set[Any] = set()
        self._name = name or str(getattr(target.fn, "__name__", type(target.fn).__name__))
        self._donate = _donated_parameters(target, donate, self._name)
        layouts.check(target.fn, self._name)
        self._layouts = layouts
        self._buckets: Buckets | None = None
        if bucket is not None:
            self._buckets = _buckets(target.fn, self._name, bucket, infer)
        self._leading = bool(target.args or target.kwargs)
        self._made: Dispatcher | None = None
        self._short: dict[Types, Short] = {}
        self._tier = tier
        self.tiers = Tiers(target.fn, continuations, RecursiveRuns(self))
        """What its plain runs and its compilations have cost."""
        self._by_types: dict[Types, Kinds] = {}
        """Positional calls that may run plainly."""
        self._own = vars(self).keys() - copied | {"_own"}
        """The attributes that every compiled function has."""
        _fork.functions.add(self)

    @property
    def __pystage_function__(self) -> Callable[..., Any]:
        """The plain callable, which a staged caller calls as a part of its own program.

        No attribute of the object, which `functools.wraps` would give to a plain function around it.
        """
        return self._plain

    @property
    def recursive_runs(self) -> RecursiveRuns:
        """What its plain runs execute."""
        return self.tiers.runs

    @property
    def policy(self) -> object:
        """When it is compiled, and what happens if it cannot be."""
        return self._tier is None or self._tier(), self.fallback

    @property
    def runs_plainly(self) -> bool:
        """Whether it has a plain run; a derivative has none."""
        return self._tier is not None

    @property
    def _dispatcher(self) -> Dispatcher:
        """The dispatcher of the function, created on first use."""
        return self._made or self._make_dispatcher()

    def _make_dispatcher(self) -> Dispatcher:
        with _making:
            if self._made is None:
                static_types = CompiledFunction, BoundFunction
                made: Dispatcher = _new_dispatcher(
                    self._target.fn, self._name, self._infer, self._donate, static_types, self._layouts
                )
                made.programs.suggests_buckets = self._again is not None and self._buckets is None
                if not (self._leading or self._buckets):
                    self._short = made.short
                self._made = made
            return self._made

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs the function."""
        made: Any
        outgrown: Outgrown | None = None
        exception: BaseException
        try:
            if not kwargs:
                types = type(args[0]) if len(args) == 1 else tuple(map(type, args))
                kinds = self._by_types.get(types)
                if kinds is not None:
                    tiers = self.tiers
                    if tiers.running.plainly:
                        return tiers.run_nested(args, kwargs)  # type: ignore[no-any-return]
                    kind = kinds.by_size.get(kinds.size(*args))
                    if kind is None or not kind.settled:
                        if kind is not None and kind.plain < kind.until:
                            made = tiers.run_plainly(kind, args, kwargs)
                        else:
                            made = self._call(args, kwargs, None)
                        return made  # type: ignore[no-any-return]
                short = self._short.get(types)
                if short is not None:
                    read, run, host, entry, chosen = short
                    hidden = read(args, kwargs)
                    if hidden is not None:
                        try:
                            if host is not None:
                                return host(args, hidden)  # type: ignore[no-any-return]
                            made = run(*args, *hidden) if hidden else run(*args)
                            if type(made) is Pending:
                                made = self._dispatcher.finish(
                                    entry, chosen, made, args, kwargs, args, hidden
                                )
                            return made  # type: ignore[no-any-return]
                        except Elsewhere:
                            entry.split()
                        except Unprepared:
                            pass
                        except Outgrown as end:
                            outgrown = end.with_traceback(None)
                        except StagingError as error:
                            if error.started:
                                raise
                            # JAX's lowering refuses what was inferred, in `_call` again
            made = self._call(args, kwargs, outgrown)
            return made  # type: ignore[no-any-return]
        except Raised as error:
            exception = error.genuine()
        except StagingError as error:
            end_at_the_call(error)
            raise
        except RuntimeError as error:
            refused = self._dispatcher.out_of_memory(error)
            if refused is None:
                leave_out_own_frames(error, self._name)
                raise
            exception = refused
        except Exception as error:
            leave_out_own_frames(error, self._name)
            raise
        if isinstance(exception, StagingError) and not exception.started:
            fallback = self.fallback
            if fallback not in ("error", "caller"):
                return self._run_as_python(exception, fallback, *self.canonical(args, kwargs))  # type: ignore[no-any-return]
        with AT_THE_CALL, _as_raised_by_the_program(exception):
            raise exception

    def forget_fast_paths(self) -> None:
        """Makes calls ask for their tier again."""
        self._short, self._by_types = {}, {}

    @overload
    def __get__(
        self, instance: None, owner: type | None = None
    ) -> Any: ...  # also what `classmethod` asks for

    @overload
    def __get__(
        self: CompiledFunction[Concatenate[Any, Q], R], instance: object, owner: type | None = None
    ) -> BoundFunction[Q, R]: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Any: ...

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """The function as a method of `instance`."""
        wrapped = self.__wrapped__
        if isinstance(wrapped, classmethod):
            return BoundFunction(self, owner if owner is not None else type(instance))
        if instance is None or not hasattr(type(wrapped), "__get__") or isinstance(wrapped, staticmethod):
            return self
        if (
            self.tiers.running.plainly and len(vars(self)) == len(self._own) + _COPIED
        ):  # no attributes of the user
            return types.MethodType(self._target.fn, instance)
        return BoundFunction(self, instance)

    def __repr__(self) -> str:
        return f"<pystage.compile of {self.__wrapped__!r}>"

    def __copy__(self) -> Self:
        """A copy of the function is the function itself."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy of a function is the function."""
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        """A function is pickled by its name; one that has no name of its own, as what makes it of the plain function."""
        name = str(getattr(self, "__qualname__", self._name))
        given = {
            n: v
            for n, v in vars(self).items()
            if n not in self._own and getattr(self.__wrapped__, n, self._own) is not v
        }
        made: str | tuple[Any, ...] = _reduced(self, name, self._again, self._of, given, sys._getframe(1))
        return made

    def lower(self, /, *args: Any, **kwargs: Any) -> Lowered:
        """Lowers the function for these arguments, without running it.

        In place of a value, at any depth, may stand a `jax.ShapeDtypeStruct` or a `pystage.spec`.
        StagingError if it cannot be staged.
        """
        with AT_THE_CALL:
            lowered: Lowered = _lowered(self._dispatcher, self.canonical, args, kwargs)
            return lowered

    def trace(self, /, *args: Any, **kwargs: Any) -> Any:
        """Traces the function for these arguments as `jax.jit(function).trace` does: a `jax.stages.Traced`.

        By it a compiled function is a `jax.stages.Wrapped`, which `jax.export.export` takes. JAX's rules hold.
        """
        return _jit(self).trace(*args, **kwargs)

    def export(self, /, *args: Any, **kwargs: Any) -> bytes:
        """The program for these arguments, given as for `lower`, as bytes from which `pystage.load` makes a function.

        What the function reads besides its arguments has the values of now. StagingError if it cannot be staged, or
        (PS817) needs what only this process has.
        """
        with AT_THE_CALL:
            data: bytes = _export(self, args, kwargs)
            return data

    def staged(self, /, *args: Any, **kwargs: Any) -> Staged:
        """The program for these arguments, given as for `lower`: neither emitted nor kept.

        StagingError if it cannot be staged.
        """
        return self._dispatcher.infer(*self.canonical(args, kwargs))

    def warm_up(self, calls: Iterable[Any], *, threads: int | None = None) -> None:
        """Compiles the programs of these calls ahead, in threads, and runs none; a terminal shows a bar of progress.

        A call is a tuple of positional arguments, or a dict of keyword arguments, or the one argument if it is neither; in
        place of an array may stand a `pystage.spec` or a `jax.ShapeDtypeStruct`. `threads`: by default as many as there are
        processors. A program for which the host draws random numbers is staged, and XLA compiles it at its first call: only
        the draws give its inputs. StagingError for a call that cannot be staged.
        """
        _warm_up(self._name, self.compile_call, calls, threads)

    def compile_call(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Compiles the program of a call, and does not run it."""
        canonical, named = self.canonical(args, kwargs)
        if self._buckets is not None:
            found = self._buckets.call(
                canonical, named, self._dispatcher.describe, lambda f, *call: f.compile_call(*call)
            )
            if found is not None:
                return
        self._dispatcher.compile(canonical, named)

    def signatures(self) -> list[str]:
        """The programs that are kept: the types that each takes and gives, and the constants it was made for.

        Those for buckets take arrays of the sizes of these, and before them the sizes of a call, an int64 vector.
        """
        inner = [text for each in self._in_buckets() for text in each.signatures()]
        return [str(staged) for staged in self._dispatcher.staged] + [f"{text} in buckets" for text in inner]

    def _in_buckets(self) -> list[CompiledFunction[..., Any]]:
        return [] if self._buckets is None else self._buckets.programs()

    def usage(self) -> Usage:
        """How calls ran so far, what each way has cost and why it was chosen, to be printed."""
        found: Usage = _usage_of(self, self._made is not None)
        return found

    @property
    def now(self) -> str:
        """How calls run now, in words."""
        tier = "compiled" if self._tier is None else self._tier()
        if tier == "plain":
            return "plainly: the tier is `plain`"
        if tier == "compiled" or self.fallback == "error":
            return "as programs, each compiled when it is first needed"
        return self.tiers.now

    def _repr_html_(self) -> str:
        return self.usage()._repr_html_()

    @property
    def programs(self) -> int:
        """How many programs are kept."""
        made = 0 if self._made is None else len(self._made.staged)
        return made + sum([each.programs for each in self._in_buckets()])

    @property
    def identity(self) -> tuple[str, Span | None]:
        """The name of the function, and its definition's span."""
        return self._name, self._dispatcher.span

    @property
    def target(self) -> Callable[..., Any]:
        """The plain function whose source is compiled."""
        return self._target.fn

    @property
    def target_of_calls(self) -> Target:
        """That function, and the arguments that the callable itself holds."""
        return self._target

    @property
    def dispatcher(self) -> Dispatcher:
        """The dispatcher, which finds and makes its programs."""
        return self._dispatcher

    def canonical(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A call's arguments with those that the callable itself holds, in canonical form."""
        if self._leading:
            args = (*self._target.args, *args)
            kwargs = {**self._target.kwargs, **kwargs}
        if not kwargs:
            return tuple(args), kwargs
        moved, rest = self._dispatcher.calling.order(len(args), tuple(kwargs))
        return (*args, *[kwargs[k] for k in moved]), {k: kwargs[k] for k in rest}

    def _call(self, args: Sequence[Any], kwargs: dict[str, Any], outgrown: Outgrown | None) -> Any:
        try:
            return self._call_on_arrays(args, kwargs, outgrown)
        except HasLazy:
            pass  # so that what the function raises has no context
        return self._lazily.run_with_tensors(self, args, kwargs)

    def _call_on_arrays(self, args: Sequence[Any], kwargs: dict[str, Any], outgrown: Outgrown | None) -> Any:
        canonical, named = self.canonical(args, kwargs)
        fallback = self.fallback
        tier = "compiled" if self._tier is None or outgrown is not None else self._tier()
        strictly = fallback == "error"
        if _fork.lacks_xla and (tier == "compiled" or (strictly and tier != "plain")):
            strictly |= not self.runs_plainly
            _fork.tell(self._name, not strictly)
        if self._buckets is not None and tier != "plain" and not _fork.lacks_xla:
            found = self._buckets.call(canonical, named, self._dispatcher.describe)
            if found is not None:
                return found[0]
        if tier != "plain" and strictly:
            return self._dispatcher.call(canonical, named, outgrown=outgrown)
        if tier == "plain" or self.tiers.is_part or _fork.lacks_xla:
            return self.tiers.run_nested(canonical, named)
        if tier == "auto":
            return self._call_in_tiers(fallback, canonical, named)
        return self._call_compiled(fallback, canonical, named, outgrown)

    def _call_in_tiers(self, fallback: Refusal, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        tiers = self.tiers
        values = (*args, *kwargs.values())
        types = tuple(map(type, values))
        kinds = tiers.kinds.get((types, tuple(kwargs)))
        if kinds is None:
            kinds = tiers.kinds[types, tuple(kwargs)] = Kinds(
                size_reader(types), is_for_jax(values, lazy=fallback != "caller")
            )
            if not (kinds.at_once or kwargs or self._leading or self._buckets):
                self._by_types[types[0] if len(types) == 1 else types] = kinds
        if kinds.at_once:
            return self._call_compiled(fallback, args, kwargs, None)
        size = kinds.size(*values)
        kind = kinds.by_size.get(size) or kinds.add(size)
        if kind.settled:
            began = time.perf_counter()
            try:
                with only_ready():
                    return self._call_compiled(fallback, args, kwargs, None)
            except NotReady as not_ready:
                if not_ready.outgrown:
                    tiers.note_outgrown(kind, time.perf_counter() - began)
        if tiers.inferring.acquire(blocking=False):
            try:
                return self._call_in_program(fallback, kinds, size, kind, args, kwargs)
            except NotReady:
                tiers.rest(kind)
            finally:
                tiers.inferring.release()
        return tiers.run_plainly(kind, args, kwargs)

    def _call_in_program(
        self,
        fallback: Refusal,
        kinds: Kinds,
        size: int,
        kind: Kind,
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> Any:
        """Runs a call in a program, if one is ready or compiling it pays; `NotReady` where it runs plainly."""
        tiers = self.tiers
        tiers.take_stock(kind)
        error = tiers.end()
        if error is not None:
            warn(f"`{self._name}` runs as plain Python: XLA did not compile it: {error!r}", FallbackWarning)
        if kind.given_up or kind is tiers.awaiting:
            raise NotReady
        if self._made is not None and not kind.settled and (kind.plain_calls or kinds.serves_less(size)):
            began = time.perf_counter()
            try:
                with only_ready():
                    made = self._call_compiled(fallback, args, kwargs, None)
            except NotReady as not_ready:
                if not_ready.outgrown:
                    tiers.note_outgrown(kind, time.perf_counter() - began)
            else:
                tiers.note_run(kind, time.perf_counter() - began)
                return made
        values = (*args, *kwargs.values())
        if tiers.job is not None or not tiers.pays(kind, values):
            raise NotReady
        budget = tiers.budget(kind, values)
        missing = anything(budget) if tiers.is_long(kind, values) else compiled_beside(budget)
        end, began = None, time.perf_counter()
        try:
            with missing:
                return self._call_compiled(fallback, args, kwargs, None)
        except NotReady as not_ready:
            end = not_ready
            raise
        finally:
            seconds = time.perf_counter() - began
            kind.outgrown &= end is not None and end.job is None
            if end is None:
                tiers.note_compiling(max(0.0, seconds - kind.mean))
            elif end.job is not None:
                tiers.begin(end.job, kind, seconds)
            elif end.xla is not None:
                tiers.note_inferred(seconds, end.xla)
            else:
                tiers.note_late(seconds)

    def _call_compiled(
        self, fallback: Refusal, canonical: Sequence[Any], named: dict[str, Any], outgrown: Outgrown | None
    ) -> Any:
        try:
            return self._dispatcher.call(canonical, named, keep_failures=True, outgrown=outgrown)
        except HasLazy:
            if fallback != "caller":
                raise
            call = self._dispatcher.call
            return self._lazily.run_on_arrays(
                lambda *args, **kwargs: call(args, kwargs, keep_failures=True), canonical, named
            )
        except StagingError as error:
            if error.started or fallback == "caller":
                raise
            refused = error
        return self._run_as_python(refused, fallback, canonical, named)

    @property
    def fallback(self) -> Refusal:
        """What happens to a call that cannot be staged."""
        return "error" if self._fallback is None else self._fallback()

    def _run_as_python(
        self, refused: StagingError, fallback: Refusal, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Runs a call that is refused, and has changed nothing, as plain Python, or staged in part."""
        self._warn(refused, fallback, (*args, *kwargs.values()))
        began = time.perf_counter()
        try:
            with anything(), self.tiers.nested():  # functions that are called in it have tiers of their own
                if fallback == "lazy":
                    return self._lazily.run(self._parts(refused.diagnostics), args, kwargs)
                return self.tiers.runs.function(*args, **kwargs)
        finally:
            self._dispatcher.note_fallback(refused, time.perf_counter() - began)

    def _parts(self, refused: Sequence[Diagnostic] | None) -> Callable[..., Any]:
        """The plain function with parts staged; `refused` says why not all of it."""
        if self._offload is None:
            return self._target.fn
        if self._offloaded is None:
            self._offloaded = self._offload(self._target.fn, refused)
        return self._offloaded

    def residual(self, /, *args: Any, **kwargs: Any) -> Any:
        """The residual program of a function that cannot be staged for these arguments, to be printed.

        It shows each part that is staged, with what goes in and comes out, and why each other line stays.
        """
        parts: Any = self._parts(None)
        canonical, named = self.canonical(args, kwargs)
        return parts.residual(*canonical, **named)

    def explain(self, /, *args: Any, **kwargs: Any) -> Any:
        """What becomes of each line for these arguments, and why what is not staged is not: an `Explanation`, to be printed.

        In place of a value, at any depth, may stand a `jax.ShapeDtypeStruct` or a `pystage.spec`. Nothing is run.
        """
        assert self._explain is not None
        return self._explain(
            self._target.fn, self._name, self._infer, args, kwargs, self.fallback, self.canonical
        )

    def _warn(self, error: StagingError, fallback: Refusal, args: Sequence[Any]) -> None:
        """Warns once for each kind of arguments and reason."""
        kinds = [(type(a), getattr(a, "shape", None), str(getattr(a, "dtype", None))) for a in args]
        key = (*error.args, *kinds)
        if key not in self._warned:
            self._warned.add(key)
            how = "as Python, staged in part" if fallback == "lazy" else "as plain Python"
            text = f"`{self._name}` runs {how}:\n{error}"
            warn(text, FallbackWarning)


class BoundFunction(Generic[Q, R]):
    """A compiled function bound to the object whose method it is; the object is its first argument."""

    __slots__ = ("__func__", "__self__", "__weakref__")

    def __init__(self, function: CompiledFunction[..., R], instance: object) -> None:
        self.__func__ = function
        self.__self__ = instance

    @property
    def __pystage_function__(self) -> Callable[..., Any]:
        """What a staged caller calls: the plain method."""
        return types.MethodType(self.__func__.__pystage_function__, self.__self__)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, BoundFunction):
            return self.__func__ is other.__func__ and self.__self__ is other.__self__
        return self.__pystage_function__ == other  # the method of a plain run

    def __hash__(self) -> int:
        return hash(self.__pystage_function__)

    def __deepcopy__(self, memo: dict[int, Any]) -> BoundFunction[Q, R]:
        """The method of a copy of the object, as of any bound method."""
        return BoundFunction(self.__func__, copy.deepcopy(self.__self__, memo))

    def __reduce__(self) -> tuple[Any, ...]:
        """A method is pickled as its object and its name."""
        return getattr, (self.__self__, self.__func__.target.__name__)

    def __call__(self, /, *args: Q.args, **kwargs: Q.kwargs) -> R:
        """Runs the method."""
        try:
            return self.__func__(self.__self__, *args, **kwargs)
        except StagingError as error:
            end_at_the_call(error)
            raise
        except Exception as error:
            leave_out_own_frames(error, str(getattr(self.__func__, "__name__", "")))
            raise

    def lower(self, /, *args: Any, **kwargs: Any) -> Lowered:
        """Lowers the method for these arguments, without running it."""
        with AT_THE_CALL:
            return self.__func__.lower(self.__self__, *args, **kwargs)

    def trace(self, /, *args: Any, **kwargs: Any) -> Any:
        """As of the compiled function: traces the method."""
        return _jit(self).trace(*args, **kwargs)

    def export(self, /, *args: Any, **kwargs: Any) -> bytes:
        """As of the compiled function: the program of the method, with a copy of the object whose method it is."""
        with AT_THE_CALL:
            data: bytes = _export(self.__func__, (self.__self__, *args), kwargs, 1)
            return data

    def explain(self, /, *args: Any, **kwargs: Any) -> Any:
        """As of the compiled function, for the object whose method it is."""
        return self.__func__.explain(self.__self__, *args, **kwargs)

    def staged(self, /, *args: Any, **kwargs: Any) -> Staged:
        """The program for these arguments, neither emitted nor kept."""
        return self.__func__.staged(self.__self__, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__func__, name)

    def __repr__(self) -> str:
        return f"<bound {self.__func__!r} of {self.__self__!r}>"


def _donated_parameters(target: Target, donate: frozenset[int | str], name: str) -> frozenset[int | str]:
    """The donated arguments, positions counted with those that the callable itself holds."""
    calling = Calling(target.fn)
    found = frozenset([d + len(target.args) if isinstance(d, int) else d for d in donate])
    for given, parameter in zip(donate, found):
        if not calling.has(parameter) or (isinstance(given, int) and given < 0):
            raise ValueError(f"`{name}` has no parameter `{given}` to donate")
    return found
