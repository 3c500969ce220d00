"""Dispatch: finds the specialisation that serves a call, or compiles one.

In: a plain function, and the arguments of a call in canonical form (`arguments/targets.py`). Out: the result of the plain
run. `entries.py` has the keys of the lookup.
"""

from __future__ import annotations

import functools
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

import jax
import numpy as np

from ...compiler.diagnostics.codes_runtime import MutationUnderTransformation, OutOfMemory, SharedObject
from ...compiler.diagnostics.diagnostic import DiagnosticError
from ...compiler.diagnostics.errors import StagingError
from ...compiler.diagnostics.span import Span
from ...compiler.pipeline import Infer, Request, Staged
from ...compiler.values.boundary import Form, Guard, GuardKind, HiddenInput, Spec, Write, leaf_forms
from ...compiler.values.capacity import REEXECUTION, reexecution
from ...compiler.values.demand import no_value
from ...compiler.values.memory import is_structured
from ...config import config
from ...deferred import deferred
from ...records import dataclass
from ..arguments.abstract import abstract_form
from ..arguments.classification import LeafKind
from ..arguments.columns import constant_of
from ..arguments.flatten import AbstractTypes, Description, Flattener, HasRecords, Shape, occurrences
from ..arguments.inputs import type_key
from ..arguments.layouts import ANYWHERE, Layouts, Place
from ..arguments.targets import Calling, definition_of
from ..executables.jax_private import enable_x64, restore_x64, run_with_x64
from ..guards.environment import Read, Reader
from ..guards.feedback import Feedback
from ..outcomes import Elsewhere, Outgrown, Pending, Raised
from ..random.draws import DrawFailed, DrawPlan, Performance
from ..reports.ledger import Change, Known, changes, ledger
from ..reports.warnings import SpecialisationWarning, warn
from ..results.exceptions import is_out_of_memory, raised_at
from ..results.host_memory import Received, readable
from ..results.results import Plan
from ..tiers import anything, check_ready, waits
from .entries import MAX_SPECIALISATIONS, Entry, Family, Group
from .eviction import ProgramCache
from .refusals import GuardedRefusal
from .specialisation import Specialisation, SpecialisationContext, stage

if TYPE_CHECKING:
    from ..cache.kept import Kept

_ATTEMPTS = MAX_SPECIALISATIONS + 4
"""How often a call may find that it needs another specialisation: of each of the family, and when the family is split."""
THRASH = 16
"""How many failed guards of one kind of call lead to a warning."""


_config = jax.config
_Call = deferred("pystage.runtime.cache.kept", "Call")
_called_parameters = deferred("pystage.runtime.arguments.functions", "called_parameters")
_find = deferred("pystage.runtime.cache.kept", "find")
_keep = deferred("pystage.runtime.cache.kept", "keep")
_Tracer = jax.core.Tracer

Types = type | tuple[type, ...]
HostWay = Callable[[Sequence[Any], tuple[Any, ...]], Any]
Short = tuple[Read, Callable[..., Any], HostWay | None, Entry, Specialisation]
"""The fast path of a call: what reads its hidden inputs, what runs it, what runs it if something is not a
`jax.Array`, and whose it is."""


class OnlyCompiled(Exception):
    """Raised in place of a run of a program that was to be compiled only."""


class _CompileOnly(threading.local):
    only_compiles = False
    """True while calls of this thread compile programs and do not run them."""


_thread = _CompileOnly()


def types_of(args: Sequence[Any]) -> Types:
    """The key of a fast path: the types of the arguments."""
    return type(args[0]) if len(args) == 1 else tuple(map(type, args))


@dataclass(frozen=True, slots=True)
class Described:
    """The arguments of one call as specs, which leaves are donated, and the layouts of leaves."""

    description: Description
    args: tuple[Spec, ...]
    kwargs: Mapping[str, Spec]
    donated: tuple[int, ...]
    places: tuple[Place, ...]

    def value_of(self, leaf: int) -> Any:
        """The value of a leaf that can be a constant; None for arrays and for what has only a type."""
        value = constant_of(self.description.leaves[leaf])
        return value if type(value) in (int, float, complex, tuple) or isinstance(value, np.generic) else None


class Dispatcher:
    """The specialisations of one function, and the calls of it."""

    def __init__(
        self,
        fn: Callable[..., Any],
        name: str,
        infer: Infer,
        donate: frozenset[int | str] = frozenset(),
        static_types: tuple[type, ...] = (),
        layouts: Layouts = ANYWHERE,
    ) -> None:
        self.fn = fn
        self.name = name
        self.calling = Calling(fn)
        self.flattener = Flattener(static_types)
        self.groups: dict[Shape, Group] = {}
        self.short: dict[Types, Short] = {}
        """The fast paths of positional calls whose arguments all are leaves, by their types."""
        self._feedback = Feedback()
        self._known: deque[Known] = deque(maxlen=16)
        """The keys of the latest programs."""
        self._changed: tuple[Change, ...] = ()
        """The guards that failed for the call at hand, with their old and new values."""
        self.programs = ProgramCache(name, self.short)
        self._infer = infer
        self._donate = donate
        self._layouts = layouts
        self._lock = threading.Lock()

    @functools.cached_property
    def span(self) -> Span | None:
        """Where the function is defined."""
        return definition_of(self.fn)

    def note_fallback(self, refused: StagingError, seconds: float) -> None:
        """Counts a call that ran as Python."""
        ledger.note_fallback(self.name, self.span, refused, seconds)

    def out_of_memory(self, error: RuntimeError) -> StagingError | None:
        """The refusal of a call for which XLA has no memory; None for another error.

        It has started where something may have been printed, drawn or given away, so that it cannot run as Python.
        """
        if not is_out_of_memory(error):
            return None
        refused = StagingError((OutOfMemory(span=self.span, what=f"the program of `{self.name}`"),))
        refused.started = bool(self._donate) or any(s.prints or s.program.draws for s in self.staged)
        refused.__cause__ = error
        return refused

    @property
    def donated(self) -> frozenset[int | str]:
        """The names and positions of arguments whose buffers programs may reuse."""
        return self._donate

    # -- calls

    def call(
        self,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        keep_failures: bool = False,
        outgrown: Outgrown | None = None,
    ) -> Any:
        """Runs the function. StagingError if it cannot be staged for these arguments.

        `keep_failures`: a call of a kind that was refused several times is refused at once from then on, in whatever state
        the environment is. `outgrown`: how a run of this call has ended already.
        """
        try:
            return self._call(args, kwargs, keep_failures, outgrown)
        except HasRecords:
            pass
        return self._call(args, kwargs, keep_failures, outgrown)

    def _call(
        self,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        keep_failures: bool,
        outgrown: Outgrown | None,
    ) -> Any:
        values = (*args, *kwargs.values()) if kwargs else args
        try:
            shape, leaves = self.flattener.flatten(tuple, tuple(kwargs), values)
        except RecursionError:
            self._described(args, kwargs)
            raise
        group = self.groups.get(shape) or self._group(shape, leaves, args, kwargs)
        dynamic, key = group.split(leaves)
        entry = group.entries.get(key) or self._entry(group, key, args, kwargs, leaves)
        family = entry.shared if entry.by_types is None else entry.family(dynamic)
        found = family.by_value.get(family.values(dynamic) if family.demanded else ())
        if found and outgrown is None and not group.traced:
            hidden = found[0].read(args, kwargs)
            if hidden is not None and (found[0].pattern is None or self._fits(found[0], values)):
                try:
                    return self._run(entry, found[0], args, kwargs, dynamic, hidden)
                except Elsewhere:
                    entry.split()
                except Outgrown as end:
                    outgrown = end.with_traceback(None)
        return self._run_another(group, entry, args, kwargs, dynamic, keep_failures, outgrown)

    def compile(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Compiles the program of a call, and does not run it. StagingError as from `call`."""
        _thread.only_compiles = True
        try:
            self.call(args, kwargs)
        except OnlyCompiled:
            pass
        finally:
            _thread.only_compiles = False

    def _run_another(
        self,
        group: Group,
        entry: Entry,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
        keep_failures: bool,
        outgrown: Outgrown | None,
    ) -> Any:
        """Runs a specialisation other than the first of the family, or a new one, until no capacity is exceeded."""
        attempts, stalled, writes, grown = 0, 0, 0, None
        while attempts < _ATTEMPTS:
            if outgrown is not None:
                before = self._feedback.capacities
                grown = self._feedback.note_outgrown(outgrown)
                stalled = stalled + 1 if self._feedback.capacities == before else 0
                if stalled == _ATTEMPTS:
                    raise RuntimeError(
                        f"internal error of pystage: {grown.what} of `{self.name}` exceeds its capacity again, which "
                        "has not grown; please report this"
                    )
                writes = max(writes, writes + (outgrown.writes or 0))
                outgrown = None
            family = entry.family(leaves)
            try:
                with anything() if writes else nullcontext():  # what has printed goes on as a program
                    with family.lock, reexecution(writes):
                        current = group.traced or grown is not None
                        chosen, hidden = self._find(family, args, kwargs, leaves, current)
                        if chosen is None:
                            chosen, hidden = self._make(
                                group, entry, family, args, kwargs, leaves, keep_failures, grown
                            )
                    return self._run(entry, chosen, args, kwargs, leaves, hidden)
            except Elsewhere:
                attempts += 1
                if entry.by_types is not None and chosen is not None:
                    chosen.refuse(hidden)
                entry.split()
            except Outgrown as end:
                outgrown = end.with_traceback(None)
        raise RuntimeError(
            f"internal error of pystage: JAX sees other types in a call of `{self.name}` than the call has; "
            "please report this"
        )

    def _find(
        self,
        family: Family,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
        current: bool,
    ) -> tuple[Specialisation | None, tuple[Any, ...]]:
        """The specialisation of the family that holds now, and its hidden inputs.

        `current`: only one that has the capacities that calls turned out to need.
        """
        values = (*args, *kwargs.values())
        for specialisation in family.find(leaves):
            if current and not self._feedback.is_current(specialisation.request):
                continue
            hidden = specialisation.read(args, kwargs)
            if hidden is not None and self._fits(specialisation, values):
                family.prefer(specialisation, leaves)
                return specialisation, hidden
        return None, ()

    def _run(
        self,
        entry: Entry,
        specialisation: Specialisation,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
        hidden: tuple[Any, ...],
        performance: Performance | None = None,
    ) -> Any:
        context = entry.context
        if context.traced:
            return specialisation.inline((*leaves, *hidden))
        if _thread.only_compiles:
            if specialisation.draws is None:
                inputs = readable(leaves), readable(hidden)
                with jax.enable_x64(context.x64 or bool(specialisation.host)):
                    specialisation.prepare((*inputs[0], *inputs[1]))
            raise OnlyCompiled
        if specialisation.draws is not None and performance is None:
            return self._draw_and_run(entry, specialisation, args, kwargs, leaves, hidden)
        inputs = (readable(leaves), readable(hidden)) if specialisation.memory else (leaves, hidden)
        if performance is not None:
            inputs = inputs[0], [*inputs[1], *performance.results]
        try:
            if specialisation.host and not context.x64:
                out = run_with_x64(specialisation.start, ((*inputs[0], *inputs[1]),))
            else:
                out = specialisation.start((*inputs[0], *inputs[1]))
        except (TypeError, OverflowError):
            self._explain(args, kwargs, leaves)
            raise
        finally:
            self.programs.note_use(specialisation)
            if specialisation.compiling:
                entry.hide()
            elif entry.hidden:
                entry.show()
        if type(out) is not Pending:
            if specialisation.single is None:
                return out
            if not isinstance(out, jax.core.Tracer):
                if specialisation.slow:
                    specialisation.settle(out)
                return specialisation.single.convert(out)
            return self._run_now(entry, specialisation, args, kwargs, leaves, hidden, performance)
        return self.finish(entry, specialisation, out, args, kwargs, leaves, hidden, performance)

    def _run_now(self, *call: Any) -> Any:
        """`_run` while JAX is tracing around the call, but nothing in it is traced: as the plain code would."""
        with jax.core.eval_context():
            return self._run(*call)

    def _draw_and_run(
        self,
        entry: Entry,
        specialisation: Specialisation,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
        hidden: tuple[Any, ...],
    ) -> Any:
        """Runs a program for which the host draws. Nothing is drawn before it is certain that it will run."""
        draws = specialisation.draws
        assert draws is not None
        count = len(specialisation.hidden_paths)
        hidden, read = hidden[:count], hidden[count:]
        plan = specialisation.plan_for((*leaves, *hidden))
        self._check_memory(entry, specialisation, plan, args, kwargs, leaves, hidden)
        with anything():
            return self._run_with_draws(entry, specialisation, args, kwargs, leaves, hidden, read)

    def _run_with_draws(
        self,
        entry: Entry,
        specialisation: Specialisation,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
        hidden: tuple[Any, ...],
        read: tuple[Any, ...],
    ) -> Any:
        draws = specialisation.draws
        assert draws is not None
        try:
            keep = not (specialisation.drawn and waits())
            performance = draws.perform(leaves, read, keep=keep)
        except DrawFailed as failed:
            if specialisation.staged.program.mutations or draws.timed:
                raise StagingError((failed.refusal(),)) from failed.error
            raise raised_at(failed.error, failed.step.span) from None
        if not keep:
            return self._run(entry, specialisation, args, kwargs, leaves, hidden, performance)
        try:
            result = self._run(entry, specialisation, args, kwargs, leaves, hidden, performance)
        except Raised:
            raise
        except BaseException:  # it could not be compiled
            performance.undo()
            raise
        specialisation.drawn = True
        return result

    def _host_way(self, entry: Entry, specialisation: Specialisation) -> HostWay:
        """`_run` in few steps, for a call whose arguments are the leaves, not all of them `jax.Array`s."""
        x64, run, memory = entry.context.x64, specialisation.run, specialisation.memory
        convert = specialisation.single.convert if specialisation.single is not None else None
        plainly = x64 or specialisation.draws is not None

        def call(args: Sequence[Any], hidden: tuple[Any, ...]) -> Any:
            if _config.jax_enable_x64 is not x64:
                return self.call(args, {})
            if plainly:
                return self._run(entry, specialisation, args, {}, args, hidden)
            inputs = (*args, *hidden) if hidden else args
            if memory:
                inputs = readable(inputs)
            try:
                previous = None
                try:
                    previous = enable_x64()
                    made = run(*inputs)
                finally:
                    restore_x64(previous)
            except (TypeError, OverflowError):
                self._explain(args, {}, args)
                raise
            if type(made) is Pending:
                return self.finish(entry, specialisation, made, args, {}, args, hidden)
            if convert is None:
                return made
            if isinstance(made, _Tracer):
                return self._run_now(entry, specialisation, args, {}, args, hidden)
            if specialisation.slow:
                specialisation.settle(made)
            return convert(made)

        return call

    def _explain(self, args: Sequence[Any], kwargs: dict[str, Any], leaves: Sequence[Any]) -> None:
        """Raises a better error where JAX has refused an argument; `HasRecords` for what is no leaf."""
        if any(map(is_structured, leaves)):
            self.flattener.look_for_records()
            raise HasRecords
        self._described(args, kwargs)

    def finish(
        self,
        entry: Entry,
        specialisation: Specialisation,
        out: Pending,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
        hidden: tuple[Any, ...],
        performance: Performance | None = None,
    ) -> Any:
        """The result for the caller, where `jax.jit` does not make it itself."""
        plan: Plan = out.plan
        values: Sequence[Any] = out.values
        if values and isinstance(values[0], jax.core.Tracer):
            return self._run_now(entry, specialisation, args, kwargs, leaves, hidden, performance)
        self._check_memory(entry, specialisation, plan, args, kwargs, leaves, hidden)
        if specialisation.slow and values and plan.waits(specialisation.memory):
            specialisation.settle(values[0])
        return plan.finish(values, args, kwargs, specialisation.memory, performance)

    def _check_memory(
        self,
        entry: Entry,
        specialisation: Specialisation,
        plan: Plan,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
        hidden: tuple[Any, ...],
    ) -> None:
        if plan.checks_memory:
            received = [Received(v, p, False) for v, p in zip(leaves, entry.paths, strict=True)]
            received += [
                Received(v, p, True) for v, p in zip(hidden, specialisation.hidden_paths, strict=True)
            ]
            plan.check_memory(args, kwargs, received, self.span)

    def _fits(self, specialisation: Specialisation, values: Sequence[Any]) -> bool:
        """True if the same containers are identical as when the program was compiled, where that matters."""
        pattern = specialisation.pattern
        return pattern is None or self._pattern(values) == pattern

    def _pattern(self, values: Sequence[Any]) -> list[int]:
        """Which containers of the arguments are the same objects."""
        return occurrences(self.flattener.containers(values))

    # -- what is made when a call is new

    def _group(
        self, shape: Shape, leaves: Sequence[Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Group:
        self.calling.check(args, kwargs)
        kinds = [k for k in map(self.flattener.rule, leaves) if isinstance(k, LeafKind)]
        made = Group(
            kinds, [type(leaf) for leaf in leaves], len(shape) == 1, self._only_called(leaves, args, kwargs)
        )
        return self.groups.setdefault(shape, made)

    def _only_called(
        self, leaves: Sequence[Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> frozenset[int]:
        """The leaves that are arguments of which the function does not see which object each is."""
        if FunctionType not in map(type, leaves):
            return frozenset()
        called: frozenset[str] = _called_parameters(self.fn)
        found, at = [], 0
        for name, value in zip((*self.calling.argument_names(len(args)), *kwargs), (*args, *kwargs.values())):
            if type(value) is FunctionType and name in called:
                found.append(at)
            at += len(self.flattener.flatten(tuple, (), (value,))[1])
        return frozenset(found)

    def describe(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], abstract: AbstractTypes | None = None
    ) -> Described:
        """The arguments as specs; StagingError (PS8xx) for what cannot enter a program.

        `abstract` gives the types of what stands for an argument in `lower`.
        """
        try:
            return self._described(args, kwargs, abstract)
        except HasRecords:
            return self._described(args, kwargs, abstract)

    def _described(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], abstract: AbstractTypes | None = None
    ) -> Described:
        """The same as `describe`; `HasRecords` where the call's arguments are to be flattened again."""
        description = Description(self.flattener, self.span, abstract)
        names = [*self.calling.argument_names(len(args)), *kwargs]
        donated: list[int] = []
        places: list[Place] = []
        specs: list[Spec] = []
        try:
            for position, value in enumerate((*args, *kwargs.values())):
                first = len(description.leaves)
                specs.append(description.spec(value, names[position]))
                place = self._layouts.of(position, names[position])
                places += [place] * (len(description.leaves) - first)
                if names[position] in self._donate or (position < len(args) and position in self._donate):
                    donated += range(first, len(description.leaves))
        except DiagnosticError as error:
            raise StagingError((error.diagnostic,)) from None
        named = dict(zip(kwargs, specs[len(args) :], strict=True))
        return Described(description, tuple(specs[: len(args)]), named, tuple(donated), tuple(places))

    @property
    def staged(self) -> list[Staged]:
        """The cached programs, in the order of their compilation."""
        return self.programs.staged

    def _note_program(self, staged: Staged, request: Request, seconds: float) -> None:
        self.programs.staged.append(staged)
        names = [*self.calling.argument_names(len(request.args)), *request.kwargs]
        arguments = dict(zip(names, (*request.args, *request.kwargs.values())))
        if not request.traced:
            self.programs.note_shapes(arguments)
        known = Known(arguments, staged)
        changed, before = self._changed, list(self._known)
        self._known.append(known)
        self._changed = ()
        number = len(self.programs.staged)

        def why() -> tuple[Change, ...]:
            return changed or changes(before, known)

        ledger.note_program(self.name, self.span, staged, why, seconds, number)

    def _take_away(
        self, group: Group, entry: Entry, family: Family, values: Any, made: Specialisation
    ) -> None:
        """Makes this specialisation unreachable for calls."""
        family.take_away(made, values)
        entry.take_away(made)
        if entry.empty:
            group.take_away(entry)
        if not group.entries:
            for shape in [shape for shape, each in list(self.groups.items()) if each is group]:
                self.groups.pop(shape, None)

    def context(self, described: Described, traced: bool) -> SpecialisationContext:
        """The common properties of the specialisations for such arguments."""
        forms = leaf_forms((*described.args, *described.kwargs.values()))
        paths = tuple(described.description.paths)
        request = Request(
            self.fn,
            self.name,
            self.span,
            described.args,
            described.kwargs,
            value_of=no_value,
            path_of=paths.__getitem__,
            given="it is traced by JAX" if traced else "only its type is given",
            traced=traced,
        )
        return SpecialisationContext(
            infer=self._infer,
            request=request,
            signature=self.calling.signature(len(described.args), tuple(described.kwargs)),
            # A second occurrence of an ndarray has no leaf of its own.
            forms=tuple([forms.get(i, Form.NDARRAY) for i in range(len(paths))]),
            x64=jax.config.jax_enable_x64,
            traced=traced,
            donated=tuple([i for i in described.donated if forms.get(i) is Form.JAX]),
            places=described.places,
            layouts=self._layouts,
            on_staged=self._note_program,
        )

    def _entry(
        self,
        group: Group,
        key: tuple[Any, ...],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
    ) -> Entry:
        described = self._described(args, kwargs)
        static = tuple([leaves[i] for i in group.static])
        paths = tuple(described.description.paths)
        made = Entry(self.context(described, group.traced), static, paths, self.short)
        if group.traced:
            made.split()
        return group.entries.setdefault(key, made)

    def _make(
        self,
        group: Group,
        entry: Entry,
        family: Family,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
        keep_failures: bool,
        grown: Change | None,
    ) -> tuple[Specialisation, tuple[Any, ...]]:
        """A new specialisation for this call, and its hidden inputs. `grown`: the capacity that was exceeded."""
        self._raise_if_refused(entry.family(leaves), args, kwargs, leaves)
        check_ready(outgrown=grown is not None)
        outgrown: list[Specialisation] = []
        if grown is None:
            self._note_guard_failure(family, args, kwargs, leaves)
        else:
            self._changed = (grown,)
            outgrown = [s for s in family.find(leaves) if not self._feedback.is_current(s.request)]
        refusals: list[GuardedRefusal] = []
        try:
            described = self._described(args, kwargs)
            static = {i: described.value_of(i) for i in family.demanded}
            made, hidden = self.specialise(entry.context, described, args, kwargs, static, refusals)
        except StagingError as error:
            if REEXECUTION.skipped_writes:
                error.started = True
            elif refusals or keep_failures:
                entry.refuse(leaves, error, refusals, keep_failures)
            raise
        family.add(made, leaves)
        if made.host:
            group.read_x64()
        if any(mutation.kind is Write.CELL for mutation in made.staged.program.mutations):
            group.tell_functions_apart()
        if not (kwargs or family.demanded or made.pattern or entry.by_types) and group.is_flat(args):
            key = types_of(args)
            host = self._host_way(entry, made) if made.host or made.draws is not None else None
            entry.shorts[key] = made.read, made.run, host, entry, made
            entry.show()
        for each in outgrown:
            self.programs.replace(each)
        values = family.values(leaves)
        self.programs.add(made, lambda: self._take_away(group, entry, family, values, made))
        return made, hidden

    def _raise_if_refused(
        self, family: Family, args: Sequence[Any], kwargs: dict[str, Any], leaves: Sequence[Any]
    ) -> None:
        """StagingError for a call that no program serves, if one like it was refused."""
        if family.refusals:
            refused = family.refused(leaves, self._pattern((*args, *kwargs.values())), args, kwargs)
            if refused is not None:
                refused.started = bool(REEXECUTION.skipped_writes)
                raise refused

    def infer(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Staged:
        """The program for these arguments, or abstract ones; it is not cached."""
        self.calling.check(args, kwargs)
        described = self.describe(args, kwargs, abstract_form)
        context = self.context(described, traced=False)
        value_of = described.value_of
        request = replace(context.request, value_of=value_of, expected=value_of)
        return stage(context, request, {}, context.x64)

    def specialise(
        self,
        context: SpecialisationContext,
        described: Described,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        static: Mapping[int, Any],
        refusals: list[GuardedRefusal] | None = None,
    ) -> tuple[Specialisation, tuple[Any, ...]]:
        """A new specialisation for these arguments, and its hidden inputs.

        Where inference refuses it, the reason and what it depends on is added to `refusals`.
        """
        description = described.description
        asked: set[int] = set()

        def value_of(leaf: int) -> Any:
            asked.add(leaf)
            return described.value_of(leaf)

        request = replace(
            context.request,
            args=described.args,
            kwargs=described.kwargs,
            value_of=value_of,
            expected=described.value_of,
            read=[],
        )
        paths = tuple(description.paths)
        demanded = {leaf: described.value_of(leaf) for leaf in self._feedback.demanded(paths)}
        static = {**{leaf: value for leaf, value in demanded.items() if value is not None}, **static}
        began = time.perf_counter()
        asking = self._feedback.request(request, paths)
        staged = self._found(context, asking, static, args, kwargs)
        if staged is not None:
            asking = self._feedback.request(request, paths)
        else:
            try:
                staged = stage(context, asking, static, context.x64)
            except StagingError as error:
                ledger.account(self.name, self.span).inference += time.perf_counter() - began
                if refusals is not None:
                    values = {
                        leaf: described.description.leaves[leaf]
                        for leaf in {*asked, *static}
                        if described.value_of(leaf) is not None
                    }
                    found = GuardedRefusal(error, asking.read, values, description.pattern, context.signature)
                    refusals += [found] if found.note_types(args, kwargs) else []
                raise
            if self._feedback.note_stores(staged.program):
                asking = self._feedback.request(request, paths)
                staged = stage(context, asking, static, context.x64)
            if config.cache_dir is not None:
                _keep(_Call(asking, static, context.x64, context.signature, args, kwargs), staged)
        self._feedback.note(staged, paths)
        self._note_program(staged, request, time.perf_counter() - began)
        program = staged.program
        if context.traced and program.mutations:
            self._refuse_mutation(staged)
        draws = DrawPlan(program.draws) if program.draws is not None else None
        if context.traced and draws is not None:
            raise StagingError(
                (draws.refusal("JAX traces the call, to run its program any number of times"),)
            )
        reader = Reader(program.guards, program.hidden, program.groups, context.signature, draws)
        hidden = reader.read(args, kwargs)
        if hidden is None:
            self._refuse_shared(reader.failing(args, kwargs))
        types = [
            *description.types,
            *[type_key(v, form) for v, form in zip(hidden, program.input_forms)],
        ]
        # Specs of other calls are made from the request's with other types: it must not keep this call's values.
        request = self._feedback.request(
            replace(request, value_of=no_value, expected=no_value, read=[]), paths
        )
        request = replace(
            request, fixed=staged.fixed, capacities=asking.capacities, skips_writes=asking.skips_writes
        )
        context = replace(context, request=request)
        return Specialisation(context, staged, reader, types, description.pattern), hidden

    def _found(
        self,
        context: SpecialisationContext,
        request: Request,
        static: Mapping[int, Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> Staged | None:
        """The program that another process has kept for such a call."""
        if config.cache_dir is None:
            return None
        kept: Kept | None = _find(_Call(request, static, context.x64, context.signature, args, kwargs))
        if kept is None:
            return None
        self._feedback.note_kept(kept.capacities, kept.changing, kept.skips_writes)
        return kept.staged

    def _refuse_mutation(self, staged: Staged) -> NoReturn:
        mutation = staged.program.mutations[0]
        problem = MutationUnderTransformation(
            span=mutation.span or self.span,
            function=self.name,
            target=str(mutation.target),
            transformation="jit",
        )
        raise StagingError((problem,))

    def _refuse_shared(self, failing: Sequence[Guard | HiddenInput]) -> NoReturn:
        """Raises PS812 for one object of the caller's at two paths; else the guards that were just read hold."""
        for each in failing:
            if isinstance(each, Guard) and each.kind is GuardKind.DISTINCT:
                places = ", ".join([str(path) for path in each.expected])
                raise StagingError((SharedObject(span=self.span, function=self.name, places=places),))
        raise RuntimeError(
            f"internal error of pystage: `{failing[0].path if failing else None}` does not hold right after "
            f"`{self.name}` was compiled for it; please report this"
        )

    def _note_guard_failure(
        self, family: Family, args: Sequence[Any], kwargs: dict[str, Any], leaves: Sequence[Any]
    ) -> None:
        """Records that the guards of all the family's programs fail, and warns of too many."""
        found = family.find(leaves)
        if not found:
            return
        self._changed = tuple(self._feedback.note_failure(found[0].reader, args, kwargs))
        if not self._changed:
            return
        family.guard_failures += 1
        if family.guard_failures == THRASH:
            warn(
                f"`{self.name}` was compiled {THRASH} times for the same kind of arguments, because "
                f"`{self._changed[0].what}` keeps changing; pass it as an argument instead",
                SpecialisationWarning,
            )
